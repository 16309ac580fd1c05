"""Celery for the runnable site: one queue a lane, publishing that gives up after a second, nothing stored as a result.

Settings and their reasons: reliability page, section 6. Start a worker with
`REMAP_SIGTERM=SIGQUIT celery -A alttext.project.celery worker -P solo -Q alttext-plain,alttext-text`.
"""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "alttext.project.settings")

REDIS = {
    "visibility_timeout": 120,
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
    "socket_timeout": 1,
    "socket_connect_timeout": 1,
    "max_retries": 0,
}
RABBITMQ = {"confirm_publish": True, "read_timeout": 1, "write_timeout": 1}

broker = os.environ.get("CELERY_BROKER_URL", "memory://")
app = Celery("alttext")
app.conf.update(
    broker_url=broker,
    task_acks_late=True,  # safe only because attempts are counted in the row
    task_reject_on_worker_lost=True,
    task_ignore_result=True,
    worker_prefetch_multiplier=1,
    task_serializer="json",
    accept_content=["json"],
    task_publish_retry=False,
    broker_connection_timeout=1,
    broker_connection_retry_on_startup=True,
    worker_soft_shutdown_timeout=30,
    broker_transport_options=REDIS
    if broker.startswith("redis")
    else RABBITMQ
    if broker.startswith(("amqp", "pyamqp"))
    else {},
    task_default_queue="alttext-plain",
    beat_schedule={"alttext-sweep": {"task": "alttext.sweep", "schedule": 5.0}},
)
app.autodiscover_tasks(["alttext"])
