import pytest

pytest.register_assert_rewrite("tests.contrib.adapter_contract")
