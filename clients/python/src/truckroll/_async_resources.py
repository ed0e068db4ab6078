"""The operations of the API by resource. Made from its description: see test/python/write.ts."""

from __future__ import annotations

from typing import cast

from typing_extensions import Unpack

from . import models
from ._async_core import AsyncCore, AsyncListing, AsyncResource, new_key
from ._settings import segment


class AsyncApiKeysResource(AsyncResource):
    """Operations of api-keys."""

    def list(self) -> AsyncListing[models.ApiKey, models.ListApiKeysResult]:
        """Lists the company's API keys: `GET /api/v1/integrations/api-keys`.

        >>> records = [record async for record in client.api_keys.list()]
        """
        return AsyncListing(self._core, "/api/v1/integrations/api-keys", {})

    async def create(self, body: models.CreateApiKeyRequest) -> models.CreateApiKeyResult:
        """Creates a key that acts for the caller: `POST /api/v1/integrations/api-keys`.

        >>> answer = await client.api_keys.create({"name": "Nightly export", "expiresAt": "2099-12-31T23:59:59Z"})
        """
        return cast("models.CreateApiKeyResult", await self._core.call("POST", "/api/v1/integrations/api-keys", body=body))

    async def delete(self, id: str) -> models.DeleteApiKeyResult:
        """Revokes a key: `DELETE /api/v1/integrations/api-keys/{id}`.

        >>> answer = await client.api_keys.delete("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.DeleteApiKeyResult", await self._core.call("DELETE", f"/api/v1/integrations/api-keys/{segment('id', id)}"))

    async def rotate(self, id: str) -> models.RotateApiKeyResult:
        """Replaces the value of a key: `POST /api/v1/integrations/api-keys/{id}/rotate`.

        >>> answer = await client.api_keys.rotate("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.RotateApiKeyResult", await self._core.call("POST", f"/api/v1/integrations/api-keys/{segment('id', id)}/rotate"))


class AsyncAuditEventsResource(AsyncResource):
    """Operations of audit-events."""

    def list(self, **filters: Unpack[models.ListAuditEventsQuery]) -> AsyncListing[models.AuditEvent, models.ListAuditEventsResult]:
        """Lists changes and who made them: `GET /api/v1/integrations/audit-events`.

        >>> records = [record async for record in client.audit_events.list()]
        """
        return AsyncListing(self._core, "/api/v1/integrations/audit-events", filters)


class AsyncInteractionsResource(AsyncResource):
    """Operations of interactions."""

    def list(self, **filters: Unpack[models.ListInteractionsQuery]) -> AsyncListing[models.Interaction, models.ListInteractionsResult]:
        """Lists interactions: `GET /api/v1/integrations/interactions`.

        >>> records = [record async for record in client.interactions.list()]
        """
        return AsyncListing(self._core, "/api/v1/integrations/interactions", filters)


class AsyncNotificationsResource(AsyncResource):
    """Operations of notifications."""

    async def get(self, id: str) -> models.GetNotificationResult:
        """Reads what became of a customer notification that a scheduling write requested: `GET /api/v1/integrations/notifications/{id}`.

        >>> answer = await client.notifications.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetNotificationResult", await self._core.call("GET", f"/api/v1/integrations/notifications/{segment('id', id)}"))


class AsyncRequestsResource(AsyncResource):
    """Operations of requests."""

    def list(self, **filters: Unpack[models.ListRequestsQuery]) -> AsyncListing[models.LoggedRequest, models.ListRequestsResult]:
        """Lists what programs sent with the company's API keys and how it was answered: `GET /api/v1/integrations/requests`.

        >>> records = [record async for record in client.requests.list()]
        """
        return AsyncListing(self._core, "/api/v1/integrations/requests", filters)


class AsyncServiceRequestsResource(AsyncResource):
    """Operations of service-requests."""

    def list(self, **filters: Unpack[models.ListServiceRequestsQuery]) -> AsyncListing[models.ServiceRequest, models.ListServiceRequestsResult]:
        """Lists service requests: `GET /api/v1/integrations/service-requests`.

        >>> records = [record async for record in client.service_requests.list()]
        """
        return AsyncListing(self._core, "/api/v1/integrations/service-requests", filters)


class AsyncSummaryResource(AsyncResource):
    """Operations of summary."""

    async def get(self) -> models.GetSummaryResult:
        """Counts what needs attention in the company now: `GET /api/v1/integrations/summary`.

        >>> answer = await client.summary.get()
        """
        return cast("models.GetSummaryResult", await self._core.call("GET", "/api/v1/integrations/summary"))


class AsyncViewsResource(AsyncResource):
    """Operations of views."""

    def list(self) -> AsyncListing[models.View, models.ListViewsResult]:
        """Lists the user's views and up to 200 that other active users of the company share: `GET /api/v1/integrations/views`.

        >>> records = [record async for record in client.views.list()]
        """
        return AsyncListing(self._core, "/api/v1/integrations/views", {})

    async def get(self, name: str) -> models.GetViewResult:
        """Reads one of the user's views: `GET /api/v1/integrations/views/{name}`.

        >>> answer = await client.views.get("Overdue")
        """
        return cast("models.GetViewResult", await self._core.call("GET", f"/api/v1/integrations/views/{segment('name', name)}"))

    async def save(self, name: str, body: models.SaveViewRequest) -> models.SaveViewResult:
        """Saves a view under a name: `PUT /api/v1/integrations/views/{name}`.

        >>> answer = await client.views.save("Overdue", {"query": "/reports/receivables?group=account", "shared": False})
        """
        return cast("models.SaveViewResult", await self._core.call("PUT", f"/api/v1/integrations/views/{segment('name', name)}", body=body))

    async def delete(self, name: str) -> models.DeleteViewResult:
        """Removes one of the user's views: `DELETE /api/v1/integrations/views/{name}`.

        >>> answer = await client.views.delete("Overdue")
        """
        return cast("models.DeleteViewResult", await self._core.call("DELETE", f"/api/v1/integrations/views/{segment('name', name)}"))


class AsyncWebhookEventTypesResource(AsyncResource):
    """Operations of webhook-event-types."""

    def list(self) -> AsyncListing[models.WebhookEventType, models.ListWebhookEventTypesResult]:
        """Lists the event types that endpoints can subscribe to: `GET /api/v1/integrations/webhook-event-types`.

        >>> records = [record async for record in client.webhook_event_types.list()]
        """
        return AsyncListing(self._core, "/api/v1/integrations/webhook-event-types", {})


class AsyncWebhooksDeliveriesResource(AsyncResource):
    """Operations of webhooks deliveries."""

    def list(self, webhook_id: str, **filters: Unpack[models.ListWebhookDeliveriesQuery]) -> AsyncListing[models.WebhookDelivery, models.ListWebhookDeliveriesResult]:
        """Lists an endpoint's deliveries: `GET /api/v1/integrations/webhooks/{webhookId}/deliveries`.

        >>> records = [record async for record in client.webhooks.deliveries.list("9fd09dc3-3545-49cc-89b8-1ebd0b98c4fd")]
        """
        return AsyncListing(self._core, f"/api/v1/integrations/webhooks/{segment('webhook_id', webhook_id)}/deliveries", filters)

    def attempts(self, webhook_id: str, delivery_id: str, **filters: Unpack[models.ListWebhookDeliveryAttemptsQuery]) -> AsyncListing[models.WebhookAttempt, models.ListWebhookDeliveryAttemptsResult]:
        """Lists a delivery's attempts in full: `GET /api/v1/integrations/webhooks/{webhookId}/deliveries/{deliveryId}/attempts`.

        >>> records = [record async for record in client.webhooks.deliveries.attempts("9fd09dc3-3545-49cc-89b8-1ebd0b98c4fd", "b4af39d5-b65a-4484-8e88-5a9d65f0efe4")]
        """
        return AsyncListing(self._core, f"/api/v1/integrations/webhooks/{segment('webhook_id', webhook_id)}/deliveries/{segment('delivery_id', delivery_id)}/attempts", filters)

    async def get(self, webhook_id: str, id: str) -> models.GetWebhookDeliveryResult:
        """Reads one delivery with its complete body and its newest twenty attempts: `GET /api/v1/integrations/webhooks/{webhookId}/deliveries/{id}`.

        >>> answer = await client.webhooks.deliveries.get("9fd09dc3-3545-49cc-89b8-1ebd0b98c4fd", "a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetWebhookDeliveryResult", await self._core.call("GET", f"/api/v1/integrations/webhooks/{segment('webhook_id', webhook_id)}/deliveries/{segment('id', id)}"))

    async def redeliver(self, webhook_id: str, id: str) -> models.RedeliverWebhookResult:
        """Sends an event again at once: `POST /api/v1/integrations/webhooks/{webhookId}/deliveries/{id}/redeliver`.

        >>> answer = await client.webhooks.deliveries.redeliver("9fd09dc3-3545-49cc-89b8-1ebd0b98c4fd", "a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.RedeliverWebhookResult", await self._core.call("POST", f"/api/v1/integrations/webhooks/{segment('webhook_id', webhook_id)}/deliveries/{segment('id', id)}/redeliver"))


class AsyncWebhooksResource(AsyncResource):
    """Operations of webhooks."""

    def __init__(self, core: AsyncCore) -> None:
        super().__init__(core)
        self.deliveries = AsyncWebhooksDeliveriesResource(core)

    def list(self) -> AsyncListing[models.Webhook, models.ListWebhooksResult]:
        """Lists the company's endpoints: `GET /api/v1/integrations/webhooks`.

        >>> records = [record async for record in client.webhooks.list()]
        """
        return AsyncListing(self._core, "/api/v1/integrations/webhooks", {})

    async def create(self, body: models.CreateWebhookRequest) -> models.CreateWebhookResult:
        """Registers an endpoint: `POST /api/v1/integrations/webhooks`.

        >>> answer = await client.webhooks.create({"name": "Lead sync", "url": "https://example.com/hooks/truckroll", "eventTypes": ["service_request.created"], "enabled": True, "state": "ENABLED", "maxPerSecond": 50, "headers": [{"name": "X-Api-Key", "value": "7f1c4be2"}], "filter": {"channel": {"$in": ["PHONE", "WEB"]}}, "alertEmails": ["dana@example.com"], "expiresAt": "2099-12-31T23:59:59Z"})
        """
        return cast("models.CreateWebhookResult", await self._core.call("POST", "/api/v1/integrations/webhooks", body=body))

    async def filter_preview(self, body: models.PreviewWebhookFilterRequest) -> models.PreviewWebhookFilterResult:
        """Shows which of the company's newest 1,000 events a filter would have let through: `POST /api/v1/integrations/webhooks/filter-preview`.

        >>> answer = await client.webhooks.filter_preview({"eventTypes": ["service_request.created"], "filter": {"status": {"$in": ["NEW"]}}})
        """
        return cast("models.PreviewWebhookFilterResult", await self._core.call("POST", "/api/v1/integrations/webhooks/filter-preview", body=body))

    async def get(self, id: str) -> models.GetWebhookResult:
        """Reads one endpoint: `GET /api/v1/integrations/webhooks/{id}`.

        >>> answer = await client.webhooks.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetWebhookResult", await self._core.call("GET", f"/api/v1/integrations/webhooks/{segment('id', id)}"))

    async def update(self, id: str, body: models.UpdateWebhookRequest) -> models.UpdateWebhookResult:
        """Changes the given fields of an endpoint: `PATCH /api/v1/integrations/webhooks/{id}`.

        >>> answer = await client.webhooks.update("a5614527-0ce6-43be-8d1d-d012b7394867", {"name": "Lead sync", "url": "https://example.com/hooks/truckroll", "eventTypes": ["service_request.created"], "enabled": True, "state": "ENABLED", "resumeSkipped": True, "maxPerSecond": 50, "headers": [{"name": "X-Api-Key", "value": "7f1c4be2"}], "filter": {"channel": {"$in": ["PHONE", "WEB"]}}, "alertEmails": ["dana@example.com"], "expiresAt": "2099-12-31T23:59:59Z"})
        """
        return cast("models.UpdateWebhookResult", await self._core.call("PATCH", f"/api/v1/integrations/webhooks/{segment('id', id)}", body=body))

    async def delete(self, id: str) -> models.DeleteWebhookResult:
        """Removes an endpoint and its deliveries: `DELETE /api/v1/integrations/webhooks/{id}`.

        >>> answer = await client.webhooks.delete("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.DeleteWebhookResult", await self._core.call("DELETE", f"/api/v1/integrations/webhooks/{segment('id', id)}"))

    async def health(self, id: str, **filters: Unpack[models.GetWebhookHealthQuery]) -> models.GetWebhookHealthResult:
        """Reads an endpoint's health over a period: `GET /api/v1/integrations/webhooks/{id}/health`.

        >>> answer = await client.webhooks.health("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetWebhookHealthResult", await self._core.call("GET", f"/api/v1/integrations/webhooks/{segment('id', id)}/health", params=filters))

    async def recover(self, id: str, body: models.RecoverWebhookRequest) -> models.RecoverWebhookResult:
        """Queues events since a given time again: `POST /api/v1/integrations/webhooks/{id}/recover`.

        >>> answer = await client.webhooks.recover("a5614527-0ce6-43be-8d1d-d012b7394867", {"since": "2026-03-02T15:04:05.123456Z", "until": "2026-03-03T00:00:00Z", "include": "MISSED"})
        """
        return cast("models.RecoverWebhookResult", await self._core.call("POST", f"/api/v1/integrations/webhooks/{segment('id', id)}/recover", body=body))

    async def rotate_secret(self, id: str) -> models.RotateWebhookSecretResult:
        """Creates a new signing secret: `POST /api/v1/integrations/webhooks/{id}/rotate-secret`.

        >>> answer = await client.webhooks.rotate_secret("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.RotateWebhookSecretResult", await self._core.call("POST", f"/api/v1/integrations/webhooks/{segment('id', id)}/rotate-secret"))

    async def test(self, id: str, body: models.TestWebhookRequest | None = None) -> models.TestWebhookResult:
        """Sends a test at once: `POST /api/v1/integrations/webhooks/{id}/test`.

        >>> answer = await client.webhooks.test("a5614527-0ce6-43be-8d1d-d012b7394867", {"eventType": "service_request.created"})
        """
        return cast("models.TestWebhookResult", await self._core.call("POST", f"/api/v1/integrations/webhooks/{segment('id', id)}/test", body=body))

    async def redeliver(self, webhook_id: str, body: models.RedeliverWebhooksRequest) -> models.RedeliverWebhooksResult:
        """Sends several events again: `POST /api/v1/integrations/webhooks/{webhookId}/redeliver`.

        >>> answer = await client.webhooks.redeliver("9fd09dc3-3545-49cc-89b8-1ebd0b98c4fd", {"deliveryIds": ["cfa0db39-7068-4ec5-8c11-54e6103ff639"]})
        """
        return cast("models.RedeliverWebhooksResult", await self._core.call("POST", f"/api/v1/integrations/webhooks/{segment('webhook_id', webhook_id)}/redeliver", body=body))


class AsyncMeResource(AsyncResource):
    """Operations of me."""

    async def get(self) -> models.GetCurrentUserResult:
        """Reads the user of the credential and its company: `GET /api/v1/me`.

        >>> answer = await client.me.get()
        """
        return cast("models.GetCurrentUserResult", await self._core.call("GET", "/api/v1/me"))


class AsyncAccountsResource(AsyncResource):
    """Operations of accounts."""

    def list(self, **filters: Unpack[models.ListAccountsQuery]) -> AsyncListing[models.Account, models.ListAccountsResult]:
        """Lists accounts: `GET /v1/accounts`.

        >>> records = [record async for record in client.accounts.list()]
        """
        return AsyncListing(self._core, "/v1/accounts", filters)

    async def get(self, id: str) -> models.GetAccountResult:
        """Reads one account: `GET /v1/accounts/{id}`.

        >>> answer = await client.accounts.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetAccountResult", await self._core.call("GET", f"/v1/accounts/{segment('id', id)}"))


class AsyncBusinessUnitsResource(AsyncResource):
    """Operations of business-units."""

    def list(self, **filters: Unpack[models.ListBusinessUnitsQuery]) -> AsyncListing[models.BusinessUnit, models.ListBusinessUnitsResult]:
        """Lists business units: `GET /v1/business-units`.

        >>> records = [record async for record in client.business_units.list()]
        """
        return AsyncListing(self._core, "/v1/business-units", filters)

    async def get(self, id: str) -> models.GetBusinessUnitResult:
        """Reads one business unit: `GET /v1/business-units/{id}`.

        >>> answer = await client.business_units.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetBusinessUnitResult", await self._core.call("GET", f"/v1/business-units/{segment('id', id)}"))


class AsyncCompanyResource(AsyncResource):
    """Operations of company."""

    async def get(self) -> models.GetCompanyResult:
        """Reads the company of the credential: `GET /v1/company`.

        >>> answer = await client.company.get()
        """
        return cast("models.GetCompanyResult", await self._core.call("GET", "/v1/company"))


class AsyncContactsResource(AsyncResource):
    """Operations of contacts."""

    def list(self, **filters: Unpack[models.ListContactsQuery]) -> AsyncListing[models.Contact, models.ListContactsResult]:
        """Lists contacts: `GET /v1/contacts`.

        >>> records = [record async for record in client.contacts.list()]
        """
        return AsyncListing(self._core, "/v1/contacts", filters)

    async def get(self, id: str) -> models.GetContactResult:
        """Reads one contact: `GET /v1/contacts/{id}`.

        >>> answer = await client.contacts.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetContactResult", await self._core.call("GET", f"/v1/contacts/{segment('id', id)}"))


class AsyncEquipmentResource(AsyncResource):
    """Operations of equipment."""

    def list(self, **filters: Unpack[models.ListEquipmentQuery]) -> AsyncListing[models.Equipment, models.ListEquipmentResult]:
        """Lists equipment: `GET /v1/equipment`.

        >>> records = [record async for record in client.equipment.list()]
        """
        return AsyncListing(self._core, "/v1/equipment", filters)

    async def get(self, id: str) -> models.GetEquipmentResult:
        """Reads one piece of equipment: `GET /v1/equipment/{id}`.

        >>> answer = await client.equipment.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetEquipmentResult", await self._core.call("GET", f"/v1/equipment/{segment('id', id)}"))


class AsyncEstimatesResource(AsyncResource):
    """Operations of estimates."""

    def list(self, **filters: Unpack[models.ListEstimatesQuery]) -> AsyncListing[models.Estimate, models.ListEstimatesResult]:
        """Lists estimates: `GET /v1/estimates`.

        >>> records = [record async for record in client.estimates.list()]
        """
        return AsyncListing(self._core, "/v1/estimates", filters)

    async def get(self, id: str) -> models.GetEstimateResult:
        """Reads one estimate: `GET /v1/estimates/{id}`.

        >>> answer = await client.estimates.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetEstimateResult", await self._core.call("GET", f"/v1/estimates/{segment('id', id)}"))


class AsyncFormResponsesResource(AsyncResource):
    """Operations of form-responses."""

    def list(self, **filters: Unpack[models.ListFormResponsesQuery]) -> AsyncListing[models.FormResponse, models.ListFormResponsesResult]:
        """Lists form responses: `GET /v1/form-responses`.

        >>> records = [record async for record in client.form_responses.list()]
        """
        return AsyncListing(self._core, "/v1/form-responses", filters)

    async def get(self, id: str) -> models.GetFormResponseResult:
        """Reads one form response: `GET /v1/form-responses/{id}`.

        >>> answer = await client.form_responses.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetFormResponseResult", await self._core.call("GET", f"/v1/form-responses/{segment('id', id)}"))


class AsyncInvoicesResource(AsyncResource):
    """Operations of invoices."""

    def list(self, **filters: Unpack[models.ListInvoicesQuery]) -> AsyncListing[models.Invoice, models.ListInvoicesResult]:
        """Lists invoices: `GET /v1/invoices`.

        >>> records = [record async for record in client.invoices.list()]
        """
        return AsyncListing(self._core, "/v1/invoices", filters)

    async def get(self, id: str) -> models.GetInvoiceResult:
        """Reads one invoice: `GET /v1/invoices/{id}`.

        >>> answer = await client.invoices.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetInvoiceResult", await self._core.call("GET", f"/v1/invoices/{segment('id', id)}"))


class AsyncJobAppointmentsResource(AsyncResource):
    """Operations of job-appointments."""

    def list(self, **filters: Unpack[models.ListVisitsQuery]) -> AsyncListing[models.Visit, models.ListVisitsResult]:
        """Lists visits: `GET /v1/job-appointments`.

        >>> records = [record async for record in client.job_appointments.list()]
        """
        return AsyncListing(self._core, "/v1/job-appointments", filters)

    async def get(self, id: str) -> models.GetVisitResult:
        """Reads one visit: `GET /v1/job-appointments/{id}`.

        >>> answer = await client.job_appointments.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetVisitResult", await self._core.call("GET", f"/v1/job-appointments/{segment('id', id)}"))


class AsyncJobAssignmentsResource(AsyncResource):
    """Operations of job-assignments."""

    def list(self, **filters: Unpack[models.ListAssignmentsQuery]) -> AsyncListing[models.Assignment, models.ListAssignmentsResult]:
        """Lists assignments: `GET /v1/job-assignments`.

        >>> records = [record async for record in client.job_assignments.list()]
        """
        return AsyncListing(self._core, "/v1/job-assignments", filters)

    async def create(self, body: models.AddAssignmentRequest, *, idempotency_key: str | None = None) -> models.AddAssignmentResult:
        """Adds one technician to a visit: `POST /v1/job-assignments`.

        >>> answer = await client.job_assignments.create({"expected_revision": "4652a938b8028acb0afa2f3b317a5cf538a7ca1348f74fbadf574a6458c3f33c", "appointment_id": "fb6c4231-8152-45a1-815f-b38bb1fcd2c8", "team_member_id": "d2d32845-cf1b-455c-822d-bab751650f3a", "starts_at": "2026-03-02T14:00:00Z", "ends_at": "2026-03-02T16:00:00Z", "allow_outside_window": False, "customer_notification": {"contact_id": "093e7d5f-dbaa-4fa9-8448-861b11075b3f", "message": "Dana is on the way to you tomorrow at 8."}})
        """
        return cast("models.AddAssignmentResult", await self._core.call("POST", "/v1/job-assignments", body=body, idempotency_key=idempotency_key or new_key()))

    async def get(self, id: str) -> models.GetAssignmentResult:
        """Reads one assignment: `GET /v1/job-assignments/{id}`.

        >>> answer = await client.job_assignments.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetAssignmentResult", await self._core.call("GET", f"/v1/job-assignments/{segment('id', id)}"))

    async def delete(self, id: str, body: models.RemoveAssignmentRequest, *, idempotency_key: str | None = None) -> models.RemoveAssignmentResult:
        """Removes one assignment that is neither active nor completed: `DELETE /v1/job-assignments/{id}`.

        >>> answer = await client.job_assignments.delete("de092f23-b2d3-426c-8422-11bb1ec55cd7", {"expected_revision": "4652a938b8028acb0afa2f3b317a5cf538a7ca1348f74fbadf574a6458c3f33c", "customer_notification": {"contact_id": "093e7d5f-dbaa-4fa9-8448-861b11075b3f", "message": "Dana is on the way to you tomorrow at 8."}})
        """
        return cast("models.RemoveAssignmentResult", await self._core.call("DELETE", f"/v1/job-assignments/{segment('id', id)}", body=body, idempotency_key=idempotency_key or new_key()))


class AsyncJobClassesResource(AsyncResource):
    """Operations of job-classes."""

    def list(self, **filters: Unpack[models.ListJobClassesQuery]) -> AsyncListing[models.JobClassDefinition, models.ListJobClassesResult]:
        """Lists job classes: `GET /v1/job-classes`.

        >>> records = [record async for record in client.job_classes.list()]
        """
        return AsyncListing(self._core, "/v1/job-classes", filters)

    async def get(self, id: str) -> models.GetJobClassResult:
        """Reads one job class: `GET /v1/job-classes/{id}`.

        >>> answer = await client.job_classes.get("SERVICE")
        """
        return cast("models.GetJobClassResult", await self._core.call("GET", f"/v1/job-classes/{segment('id', id)}"))


class AsyncJobFinancialsResource(AsyncResource):
    """Operations of job-financials."""

    def list(self, **filters: Unpack[models.ListJobFinancialsQuery]) -> AsyncListing[models.JobFinancials, models.ListJobFinancialsResult]:
        """Lists job financials: `GET /v1/job-financials`.

        >>> records = [record async for record in client.job_financials.list()]
        """
        return AsyncListing(self._core, "/v1/job-financials", filters)

    async def get(self, id: str) -> models.GetJobFinancialsResult:
        """Reads one job's financials: `GET /v1/job-financials/{id}`.

        >>> answer = await client.job_financials.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetJobFinancialsResult", await self._core.call("GET", f"/v1/job-financials/{segment('id', id)}"))


class AsyncJobLeadsResource(AsyncResource):
    """Operations of job-leads."""

    def list(self, **filters: Unpack[models.ListJobLeadsQuery]) -> AsyncListing[models.JobLead, models.ListJobLeadsResult]:
        """Lists job leads: `GET /v1/job-leads`.

        >>> records = [record async for record in client.job_leads.list()]
        """
        return AsyncListing(self._core, "/v1/job-leads", filters)

    async def get(self, id: str) -> models.GetJobLeadResult:
        """Reads one job lead: `GET /v1/job-leads/{id}`.

        >>> answer = await client.job_leads.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetJobLeadResult", await self._core.call("GET", f"/v1/job-leads/{segment('id', id)}"))


class AsyncJobLifecyclesResource(AsyncResource):
    """Operations of job-lifecycles."""

    def list(self, **filters: Unpack[models.ListJobLifecyclesQuery]) -> AsyncListing[models.JobLifecycle, models.ListJobLifecyclesResult]:
        """Lists job lifecycles: `GET /v1/job-lifecycles`.

        >>> records = [record async for record in client.job_lifecycles.list()]
        """
        return AsyncListing(self._core, "/v1/job-lifecycles", filters)

    async def get(self, id: str) -> models.GetJobLifecycleResult:
        """Reads one job lifecycle: `GET /v1/job-lifecycles/{id}`.

        >>> answer = await client.job_lifecycles.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetJobLifecycleResult", await self._core.call("GET", f"/v1/job-lifecycles/{segment('id', id)}"))


class AsyncJobTypesResource(AsyncResource):
    """Operations of job-types."""

    def list(self, **filters: Unpack[models.ListJobTypesQuery]) -> AsyncListing[models.JobType, models.ListJobTypesResult]:
        """Lists job types: `GET /v1/job-types`.

        >>> records = [record async for record in client.job_types.list()]
        """
        return AsyncListing(self._core, "/v1/job-types", filters)

    async def get(self, id: str) -> models.GetJobTypeResult:
        """Reads one job type: `GET /v1/job-types/{id}`.

        >>> answer = await client.job_types.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetJobTypeResult", await self._core.call("GET", f"/v1/job-types/{segment('id', id)}"))


class AsyncJobsResource(AsyncResource):
    """Operations of jobs."""

    def list(self, **filters: Unpack[models.ListJobsQuery]) -> AsyncListing[models.Job, models.ListJobsResult]:
        """Lists jobs: `GET /v1/jobs`.

        >>> records = [record async for record in client.jobs.list()]
        """
        return AsyncListing(self._core, "/v1/jobs", filters)

    async def get(self, id: str) -> models.GetJobResult:
        """Reads one job: `GET /v1/jobs/{id}`.

        >>> answer = await client.jobs.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetJobResult", await self._core.call("GET", f"/v1/jobs/{segment('id', id)}"))


class AsyncLeadSourcesResource(AsyncResource):
    """Operations of lead-sources."""

    def list(self, **filters: Unpack[models.ListLeadSourcesQuery]) -> AsyncListing[models.LeadSource, models.ListLeadSourcesResult]:
        """Lists lead sources: `GET /v1/lead-sources`.

        >>> records = [record async for record in client.lead_sources.list()]
        """
        return AsyncListing(self._core, "/v1/lead-sources", filters)

    async def get(self, id: str) -> models.GetLeadSourceResult:
        """Reads one lead source: `GET /v1/lead-sources/{id}`.

        >>> answer = await client.lead_sources.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetLeadSourceResult", await self._core.call("GET", f"/v1/lead-sources/{segment('id', id)}"))


class AsyncLocationsResource(AsyncResource):
    """Operations of locations."""

    def list(self, **filters: Unpack[models.ListLocationsQuery]) -> AsyncListing[models.Location, models.ListLocationsResult]:
        """Lists locations: `GET /v1/locations`.

        >>> records = [record async for record in client.locations.list()]
        """
        return AsyncListing(self._core, "/v1/locations", filters)

    async def get(self, id: str) -> models.GetLocationResult:
        """Reads one location: `GET /v1/locations/{id}`.

        >>> answer = await client.locations.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetLocationResult", await self._core.call("GET", f"/v1/locations/{segment('id', id)}"))


class AsyncPaymentsResource(AsyncResource):
    """Operations of payments."""

    def list(self, **filters: Unpack[models.ListPaymentsQuery]) -> AsyncListing[models.Payment, models.ListPaymentsResult]:
        """Lists payments: `GET /v1/payments`.

        >>> records = [record async for record in client.payments.list()]
        """
        return AsyncListing(self._core, "/v1/payments", filters)

    async def get(self, id: str) -> models.GetPaymentResult:
        """Reads one payment: `GET /v1/payments/{id}`.

        >>> answer = await client.payments.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetPaymentResult", await self._core.call("GET", f"/v1/payments/{segment('id', id)}"))


class AsyncRefundsResource(AsyncResource):
    """Operations of refunds."""

    def list(self, **filters: Unpack[models.ListRefundsQuery]) -> AsyncListing[models.Refund, models.ListRefundsResult]:
        """Lists refunds: `GET /v1/refunds`.

        >>> records = [record async for record in client.refunds.list()]
        """
        return AsyncListing(self._core, "/v1/refunds", filters)

    async def get(self, id: str) -> models.GetRefundResult:
        """Reads one refund: `GET /v1/refunds/{id}`.

        >>> answer = await client.refunds.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetRefundResult", await self._core.call("GET", f"/v1/refunds/{segment('id', id)}"))


class AsyncReportsResource(AsyncResource):
    """Operations of reports."""

    def collections(self, **filters: Unpack[models.GetCollectionsReportQuery]) -> AsyncListing[models.CollectionsRow, models.GetCollectionsReportResult]:
        """Reads the collections report: `GET /v1/reports/collections`.

        >>> records = [record async for record in client.reports.collections(start_date="2026-01-01", end_date="2026-04-01")]
        """
        return AsyncListing(self._core, "/v1/reports/collections", filters)

    def invoice_activity(self, **filters: Unpack[models.GetInvoiceActivityReportQuery]) -> AsyncListing[models.InvoiceActivityRow, models.GetInvoiceActivityReportResult]:
        """Reads the invoice activity report: `GET /v1/reports/invoice-activity`.

        >>> records = [record async for record in client.reports.invoice_activity(start_date="2026-01-01", end_date="2026-04-01")]
        """
        return AsyncListing(self._core, "/v1/reports/invoice-activity", filters)

    def job_profitability(self, **filters: Unpack[models.GetJobProfitabilityReportQuery]) -> AsyncListing[models.JobProfitabilityRow, models.GetJobProfitabilityReportResult]:
        """Reads the job profitability report: `GET /v1/reports/job-profitability`.

        >>> records = [record async for record in client.reports.job_profitability(start_date="2026-01-01", end_date="2026-04-01")]
        """
        return AsyncListing(self._core, "/v1/reports/job-profitability", filters)

    def receivables(self, **filters: Unpack[models.GetReceivablesReportQuery]) -> AsyncListing[models.ReceivablesRow, models.GetReceivablesReportResult]:
        """Reads the receivables report: `GET /v1/reports/receivables`.

        >>> records = [record async for record in client.reports.receivables()]
        """
        return AsyncListing(self._core, "/v1/reports/receivables", filters)

    def technician_participation_profitability(self, **filters: Unpack[models.GetTechnicianParticipationProfitabilityReportQuery]) -> AsyncListing[models.TechnicianParticipationRow, models.GetTechnicianParticipationProfitabilityReportResult]:
        """Reads the technician participation profitability report: `GET /v1/reports/technician-participation-profitability`.

        >>> records = [record async for record in client.reports.technician_participation_profitability(start_date="2026-01-01", end_date="2026-04-01")]
        """
        return AsyncListing(self._core, "/v1/reports/technician-participation-profitability", filters)


class AsyncRevenueAttributionsResource(AsyncResource):
    """Operations of revenue-attributions."""

    def list(self, **filters: Unpack[models.ListRevenueAttributionsQuery]) -> AsyncListing[models.RevenueAttribution, models.ListRevenueAttributionsResult]:
        """Lists revenue attributions: `GET /v1/revenue-attributions`.

        >>> records = [record async for record in client.revenue_attributions.list()]
        """
        return AsyncListing(self._core, "/v1/revenue-attributions", filters)

    async def get(self, id: str) -> models.GetRevenueAttributionResult:
        """Reads one revenue attribution: `GET /v1/revenue-attributions/{id}`.

        >>> answer = await client.revenue_attributions.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetRevenueAttributionResult", await self._core.call("GET", f"/v1/revenue-attributions/{segment('id', id)}"))


class AsyncTagsResource(AsyncResource):
    """Operations of tags."""

    def list(self, **filters: Unpack[models.ListTagsQuery]) -> AsyncListing[models.Tag, models.ListTagsResult]:
        """Lists tags: `GET /v1/tags`.

        >>> records = [record async for record in client.tags.list()]
        """
        return AsyncListing(self._core, "/v1/tags", filters)

    async def get(self, id: str) -> models.GetTagResult:
        """Reads one tag: `GET /v1/tags/{id}`.

        >>> answer = await client.tags.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetTagResult", await self._core.call("GET", f"/v1/tags/{segment('id', id)}"))


class AsyncTeamMembersResource(AsyncResource):
    """Operations of team-members."""

    def list(self, **filters: Unpack[models.ListTeamMembersQuery]) -> AsyncListing[models.TeamMember, models.ListTeamMembersResult]:
        """Lists team members: `GET /v1/team-members`.

        >>> records = [record async for record in client.team_members.list()]
        """
        return AsyncListing(self._core, "/v1/team-members", filters)

    async def get(self, id: str) -> models.GetTeamMemberResult:
        """Reads one team member: `GET /v1/team-members/{id}`.

        >>> answer = await client.team_members.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetTeamMemberResult", await self._core.call("GET", f"/v1/team-members/{segment('id', id)}"))


class AsyncTimeEntriesResource(AsyncResource):
    """Operations of time-entries."""

    def list(self, **filters: Unpack[models.ListTimeEntriesQuery]) -> AsyncListing[models.TimeEntry, models.ListTimeEntriesResult]:
        """Lists time entries: `GET /v1/time-entries`.

        >>> records = [record async for record in client.time_entries.list()]
        """
        return AsyncListing(self._core, "/v1/time-entries", filters)

    async def get(self, id: str) -> models.GetTimeEntryResult:
        """Reads one time entry: `GET /v1/time-entries/{id}`.

        >>> answer = await client.time_entries.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetTimeEntryResult", await self._core.call("GET", f"/v1/time-entries/{segment('id', id)}"))


class AsyncTimesheetsResource(AsyncResource):
    """Operations of timesheets."""

    def list(self, **filters: Unpack[models.ListTimesheetsQuery]) -> AsyncListing[models.Timesheet, models.ListTimesheetsResult]:
        """Lists timesheets: `GET /v1/timesheets`.

        >>> records = [record async for record in client.timesheets.list()]
        """
        return AsyncListing(self._core, "/v1/timesheets", filters)

    async def get(self, id: str) -> models.GetTimesheetResult:
        """Reads one timesheet: `GET /v1/timesheets/{id}`.

        >>> answer = await client.timesheets.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetTimesheetResult", await self._core.call("GET", f"/v1/timesheets/{segment('id', id)}"))


class AsyncResources(AsyncResource):
    """Every resource."""

    def __init__(self, core: AsyncCore) -> None:
        super().__init__(core)
        self.api_keys = AsyncApiKeysResource(core)
        self.audit_events = AsyncAuditEventsResource(core)
        self.interactions = AsyncInteractionsResource(core)
        self.notifications = AsyncNotificationsResource(core)
        self.requests = AsyncRequestsResource(core)
        self.service_requests = AsyncServiceRequestsResource(core)
        self.summary = AsyncSummaryResource(core)
        self.views = AsyncViewsResource(core)
        self.webhook_event_types = AsyncWebhookEventTypesResource(core)
        self.webhooks = AsyncWebhooksResource(core)
        self.me = AsyncMeResource(core)
        self.accounts = AsyncAccountsResource(core)
        self.business_units = AsyncBusinessUnitsResource(core)
        self.company = AsyncCompanyResource(core)
        self.contacts = AsyncContactsResource(core)
        self.equipment = AsyncEquipmentResource(core)
        self.estimates = AsyncEstimatesResource(core)
        self.form_responses = AsyncFormResponsesResource(core)
        self.invoices = AsyncInvoicesResource(core)
        self.job_appointments = AsyncJobAppointmentsResource(core)
        self.job_assignments = AsyncJobAssignmentsResource(core)
        self.job_classes = AsyncJobClassesResource(core)
        self.job_financials = AsyncJobFinancialsResource(core)
        self.job_leads = AsyncJobLeadsResource(core)
        self.job_lifecycles = AsyncJobLifecyclesResource(core)
        self.job_types = AsyncJobTypesResource(core)
        self.jobs = AsyncJobsResource(core)
        self.lead_sources = AsyncLeadSourcesResource(core)
        self.locations = AsyncLocationsResource(core)
        self.payments = AsyncPaymentsResource(core)
        self.refunds = AsyncRefundsResource(core)
        self.reports = AsyncReportsResource(core)
        self.revenue_attributions = AsyncRevenueAttributionsResource(core)
        self.tags = AsyncTagsResource(core)
        self.team_members = AsyncTeamMembersResource(core)
        self.time_entries = AsyncTimeEntriesResource(core)
        self.timesheets = AsyncTimesheetsResource(core)
