"""The operations of the API by resource. Made from its description: see test/python/write.ts."""

from __future__ import annotations

from typing import cast

from typing_extensions import Unpack

from . import models
from ._core import Core, Listing, Resource, new_key
from ._settings import segment


class ApiKeysResource(Resource):
    """Operations of api-keys."""

    def list(self) -> Listing[models.ApiKey, models.ListApiKeysResult]:
        """Lists the company's API keys: `GET /api/v1/integrations/api-keys`.

        >>> records = [record for record in client.api_keys.list()]
        """
        return Listing(self._core, "/api/v1/integrations/api-keys", {})

    def create(self, body: models.CreateApiKeyRequest) -> models.CreateApiKeyResult:
        """Creates a key that acts for the caller: `POST /api/v1/integrations/api-keys`.

        >>> answer = client.api_keys.create({"name": "Nightly export", "expiresAt": "2099-12-31T23:59:59Z"})
        """
        return cast("models.CreateApiKeyResult", self._core.call("POST", "/api/v1/integrations/api-keys", body=body))

    def delete(self, id: str) -> models.DeleteApiKeyResult:
        """Revokes a key: `DELETE /api/v1/integrations/api-keys/{id}`.

        >>> answer = client.api_keys.delete("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.DeleteApiKeyResult", self._core.call("DELETE", f"/api/v1/integrations/api-keys/{segment('id', id)}"))

    def rotate(self, id: str) -> models.RotateApiKeyResult:
        """Replaces the value of a key: `POST /api/v1/integrations/api-keys/{id}/rotate`.

        >>> answer = client.api_keys.rotate("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.RotateApiKeyResult", self._core.call("POST", f"/api/v1/integrations/api-keys/{segment('id', id)}/rotate"))


class AuditEventsResource(Resource):
    """Operations of audit-events."""

    def list(self, **filters: Unpack[models.ListAuditEventsQuery]) -> Listing[models.AuditEvent, models.ListAuditEventsResult]:
        """Lists changes and who made them: `GET /api/v1/integrations/audit-events`.

        >>> records = [record for record in client.audit_events.list()]
        """
        return Listing(self._core, "/api/v1/integrations/audit-events", filters)


class InteractionsResource(Resource):
    """Operations of interactions."""

    def list(self, **filters: Unpack[models.ListInteractionsQuery]) -> Listing[models.Interaction, models.ListInteractionsResult]:
        """Lists interactions: `GET /api/v1/integrations/interactions`.

        >>> records = [record for record in client.interactions.list()]
        """
        return Listing(self._core, "/api/v1/integrations/interactions", filters)


class NotificationsResource(Resource):
    """Operations of notifications."""

    def get(self, id: str) -> models.GetNotificationResult:
        """Reads what became of a customer notification that a scheduling write requested: `GET /api/v1/integrations/notifications/{id}`.

        >>> answer = client.notifications.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetNotificationResult", self._core.call("GET", f"/api/v1/integrations/notifications/{segment('id', id)}"))


class RequestsResource(Resource):
    """Operations of requests."""

    def list(self, **filters: Unpack[models.ListRequestsQuery]) -> Listing[models.LoggedRequest, models.ListRequestsResult]:
        """Lists what programs sent with the company's API keys and how it was answered: `GET /api/v1/integrations/requests`.

        >>> records = [record for record in client.requests.list()]
        """
        return Listing(self._core, "/api/v1/integrations/requests", filters)


class ServiceRequestsResource(Resource):
    """Operations of service-requests."""

    def list(self, **filters: Unpack[models.ListServiceRequestsQuery]) -> Listing[models.ServiceRequest, models.ListServiceRequestsResult]:
        """Lists service requests: `GET /api/v1/integrations/service-requests`.

        >>> records = [record for record in client.service_requests.list()]
        """
        return Listing(self._core, "/api/v1/integrations/service-requests", filters)


class SummaryResource(Resource):
    """Operations of summary."""

    def get(self) -> models.GetSummaryResult:
        """Counts what needs attention in the company now: `GET /api/v1/integrations/summary`.

        >>> answer = client.summary.get()
        """
        return cast("models.GetSummaryResult", self._core.call("GET", "/api/v1/integrations/summary"))


class ViewsResource(Resource):
    """Operations of views."""

    def list(self) -> Listing[models.View, models.ListViewsResult]:
        """Lists the user's views and up to 200 that other active users of the company share: `GET /api/v1/integrations/views`.

        >>> records = [record for record in client.views.list()]
        """
        return Listing(self._core, "/api/v1/integrations/views", {})

    def get(self, name: str) -> models.GetViewResult:
        """Reads one of the user's views: `GET /api/v1/integrations/views/{name}`.

        >>> answer = client.views.get("Overdue")
        """
        return cast("models.GetViewResult", self._core.call("GET", f"/api/v1/integrations/views/{segment('name', name)}"))

    def save(self, name: str, body: models.SaveViewRequest) -> models.SaveViewResult:
        """Saves a view under a name: `PUT /api/v1/integrations/views/{name}`.

        >>> answer = client.views.save("Overdue", {"query": "/reports/receivables?group=account", "shared": False})
        """
        return cast("models.SaveViewResult", self._core.call("PUT", f"/api/v1/integrations/views/{segment('name', name)}", body=body))

    def delete(self, name: str) -> models.DeleteViewResult:
        """Removes one of the user's views: `DELETE /api/v1/integrations/views/{name}`.

        >>> answer = client.views.delete("Overdue")
        """
        return cast("models.DeleteViewResult", self._core.call("DELETE", f"/api/v1/integrations/views/{segment('name', name)}"))


class WebhookEventTypesResource(Resource):
    """Operations of webhook-event-types."""

    def list(self) -> Listing[models.WebhookEventType, models.ListWebhookEventTypesResult]:
        """Lists the event types that endpoints can subscribe to: `GET /api/v1/integrations/webhook-event-types`.

        >>> records = [record for record in client.webhook_event_types.list()]
        """
        return Listing(self._core, "/api/v1/integrations/webhook-event-types", {})


class WebhooksDeliveriesResource(Resource):
    """Operations of webhooks deliveries."""

    def list(self, webhook_id: str, **filters: Unpack[models.ListWebhookDeliveriesQuery]) -> Listing[models.WebhookDelivery, models.ListWebhookDeliveriesResult]:
        """Lists an endpoint's deliveries: `GET /api/v1/integrations/webhooks/{webhookId}/deliveries`.

        >>> records = [record for record in client.webhooks.deliveries.list("9fd09dc3-3545-49cc-89b8-1ebd0b98c4fd")]
        """
        return Listing(self._core, f"/api/v1/integrations/webhooks/{segment('webhook_id', webhook_id)}/deliveries", filters)

    def attempts(self, webhook_id: str, delivery_id: str, **filters: Unpack[models.ListWebhookDeliveryAttemptsQuery]) -> Listing[models.WebhookAttempt, models.ListWebhookDeliveryAttemptsResult]:
        """Lists a delivery's attempts in full: `GET /api/v1/integrations/webhooks/{webhookId}/deliveries/{deliveryId}/attempts`.

        >>> records = [record for record in client.webhooks.deliveries.attempts("9fd09dc3-3545-49cc-89b8-1ebd0b98c4fd", "b4af39d5-b65a-4484-8e88-5a9d65f0efe4")]
        """
        return Listing(self._core, f"/api/v1/integrations/webhooks/{segment('webhook_id', webhook_id)}/deliveries/{segment('delivery_id', delivery_id)}/attempts", filters)

    def get(self, webhook_id: str, id: str) -> models.GetWebhookDeliveryResult:
        """Reads one delivery with its complete body and its newest twenty attempts: `GET /api/v1/integrations/webhooks/{webhookId}/deliveries/{id}`.

        >>> answer = client.webhooks.deliveries.get("9fd09dc3-3545-49cc-89b8-1ebd0b98c4fd", "a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetWebhookDeliveryResult", self._core.call("GET", f"/api/v1/integrations/webhooks/{segment('webhook_id', webhook_id)}/deliveries/{segment('id', id)}"))

    def redeliver(self, webhook_id: str, id: str) -> models.RedeliverWebhookResult:
        """Sends an event again at once: `POST /api/v1/integrations/webhooks/{webhookId}/deliveries/{id}/redeliver`.

        >>> answer = client.webhooks.deliveries.redeliver("9fd09dc3-3545-49cc-89b8-1ebd0b98c4fd", "a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.RedeliverWebhookResult", self._core.call("POST", f"/api/v1/integrations/webhooks/{segment('webhook_id', webhook_id)}/deliveries/{segment('id', id)}/redeliver"))


class WebhooksResource(Resource):
    """Operations of webhooks."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self.deliveries = WebhooksDeliveriesResource(core)

    def list(self) -> Listing[models.Webhook, models.ListWebhooksResult]:
        """Lists the company's endpoints: `GET /api/v1/integrations/webhooks`.

        >>> records = [record for record in client.webhooks.list()]
        """
        return Listing(self._core, "/api/v1/integrations/webhooks", {})

    def create(self, body: models.CreateWebhookRequest) -> models.CreateWebhookResult:
        """Registers an endpoint: `POST /api/v1/integrations/webhooks`.

        >>> answer = client.webhooks.create({"name": "Lead sync", "url": "https://example.com/hooks/truckroll", "eventTypes": ["service_request.created"], "enabled": True, "state": "ENABLED", "maxPerSecond": 50, "headers": [{"name": "X-Api-Key", "value": "7f1c4be2"}], "filter": {"channel": {"$in": ["PHONE", "WEB"]}}, "alertEmails": ["dana@example.com"], "expiresAt": "2099-12-31T23:59:59Z"})
        """
        return cast("models.CreateWebhookResult", self._core.call("POST", "/api/v1/integrations/webhooks", body=body))

    def filter_preview(self, body: models.PreviewWebhookFilterRequest) -> models.PreviewWebhookFilterResult:
        """Shows which of the company's newest 1,000 events a filter would have let through: `POST /api/v1/integrations/webhooks/filter-preview`.

        >>> answer = client.webhooks.filter_preview({"eventTypes": ["service_request.created"], "filter": {"status": {"$in": ["NEW"]}}})
        """
        return cast("models.PreviewWebhookFilterResult", self._core.call("POST", "/api/v1/integrations/webhooks/filter-preview", body=body))

    def get(self, id: str) -> models.GetWebhookResult:
        """Reads one endpoint: `GET /api/v1/integrations/webhooks/{id}`.

        >>> answer = client.webhooks.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetWebhookResult", self._core.call("GET", f"/api/v1/integrations/webhooks/{segment('id', id)}"))

    def update(self, id: str, body: models.UpdateWebhookRequest) -> models.UpdateWebhookResult:
        """Changes the given fields of an endpoint: `PATCH /api/v1/integrations/webhooks/{id}`.

        >>> answer = client.webhooks.update("a5614527-0ce6-43be-8d1d-d012b7394867", {"name": "Lead sync", "url": "https://example.com/hooks/truckroll", "eventTypes": ["service_request.created"], "enabled": True, "state": "ENABLED", "resumeSkipped": True, "maxPerSecond": 50, "headers": [{"name": "X-Api-Key", "value": "7f1c4be2"}], "filter": {"channel": {"$in": ["PHONE", "WEB"]}}, "alertEmails": ["dana@example.com"], "expiresAt": "2099-12-31T23:59:59Z"})
        """
        return cast("models.UpdateWebhookResult", self._core.call("PATCH", f"/api/v1/integrations/webhooks/{segment('id', id)}", body=body))

    def delete(self, id: str) -> models.DeleteWebhookResult:
        """Removes an endpoint and its deliveries: `DELETE /api/v1/integrations/webhooks/{id}`.

        >>> answer = client.webhooks.delete("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.DeleteWebhookResult", self._core.call("DELETE", f"/api/v1/integrations/webhooks/{segment('id', id)}"))

    def health(self, id: str, **filters: Unpack[models.GetWebhookHealthQuery]) -> models.GetWebhookHealthResult:
        """Reads an endpoint's health over a period: `GET /api/v1/integrations/webhooks/{id}/health`.

        >>> answer = client.webhooks.health("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetWebhookHealthResult", self._core.call("GET", f"/api/v1/integrations/webhooks/{segment('id', id)}/health", params=filters))

    def recover(self, id: str, body: models.RecoverWebhookRequest) -> models.RecoverWebhookResult:
        """Queues events since a given time again: `POST /api/v1/integrations/webhooks/{id}/recover`.

        >>> answer = client.webhooks.recover("a5614527-0ce6-43be-8d1d-d012b7394867", {"since": "2026-03-02T15:04:05.123456Z", "until": "2026-03-03T00:00:00Z", "include": "MISSED"})
        """
        return cast("models.RecoverWebhookResult", self._core.call("POST", f"/api/v1/integrations/webhooks/{segment('id', id)}/recover", body=body))

    def rotate_secret(self, id: str) -> models.RotateWebhookSecretResult:
        """Creates a new signing secret: `POST /api/v1/integrations/webhooks/{id}/rotate-secret`.

        >>> answer = client.webhooks.rotate_secret("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.RotateWebhookSecretResult", self._core.call("POST", f"/api/v1/integrations/webhooks/{segment('id', id)}/rotate-secret"))

    def test(self, id: str, body: models.TestWebhookRequest | None = None) -> models.TestWebhookResult:
        """Sends a test at once: `POST /api/v1/integrations/webhooks/{id}/test`.

        >>> answer = client.webhooks.test("a5614527-0ce6-43be-8d1d-d012b7394867", {"eventType": "service_request.created"})
        """
        return cast("models.TestWebhookResult", self._core.call("POST", f"/api/v1/integrations/webhooks/{segment('id', id)}/test", body=body))

    def redeliver(self, webhook_id: str, body: models.RedeliverWebhooksRequest) -> models.RedeliverWebhooksResult:
        """Sends several events again: `POST /api/v1/integrations/webhooks/{webhookId}/redeliver`.

        >>> answer = client.webhooks.redeliver("9fd09dc3-3545-49cc-89b8-1ebd0b98c4fd", {"deliveryIds": ["cfa0db39-7068-4ec5-8c11-54e6103ff639"]})
        """
        return cast("models.RedeliverWebhooksResult", self._core.call("POST", f"/api/v1/integrations/webhooks/{segment('webhook_id', webhook_id)}/redeliver", body=body))


class MeResource(Resource):
    """Operations of me."""

    def get(self) -> models.GetCurrentUserResult:
        """Reads the user of the credential and its company: `GET /api/v1/me`.

        >>> answer = client.me.get()
        """
        return cast("models.GetCurrentUserResult", self._core.call("GET", "/api/v1/me"))


class AccountsResource(Resource):
    """Operations of accounts."""

    def list(self, **filters: Unpack[models.ListAccountsQuery]) -> Listing[models.Account, models.ListAccountsResult]:
        """Lists accounts: `GET /v1/accounts`.

        >>> records = [record for record in client.accounts.list()]
        """
        return Listing(self._core, "/v1/accounts", filters)

    def get(self, id: str) -> models.GetAccountResult:
        """Reads one account: `GET /v1/accounts/{id}`.

        >>> answer = client.accounts.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetAccountResult", self._core.call("GET", f"/v1/accounts/{segment('id', id)}"))


class BusinessUnitsResource(Resource):
    """Operations of business-units."""

    def list(self, **filters: Unpack[models.ListBusinessUnitsQuery]) -> Listing[models.BusinessUnit, models.ListBusinessUnitsResult]:
        """Lists business units: `GET /v1/business-units`.

        >>> records = [record for record in client.business_units.list()]
        """
        return Listing(self._core, "/v1/business-units", filters)

    def get(self, id: str) -> models.GetBusinessUnitResult:
        """Reads one business unit: `GET /v1/business-units/{id}`.

        >>> answer = client.business_units.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetBusinessUnitResult", self._core.call("GET", f"/v1/business-units/{segment('id', id)}"))


class CompanyResource(Resource):
    """Operations of company."""

    def get(self) -> models.GetCompanyResult:
        """Reads the company of the credential: `GET /v1/company`.

        >>> answer = client.company.get()
        """
        return cast("models.GetCompanyResult", self._core.call("GET", "/v1/company"))


class ContactsResource(Resource):
    """Operations of contacts."""

    def list(self, **filters: Unpack[models.ListContactsQuery]) -> Listing[models.Contact, models.ListContactsResult]:
        """Lists contacts: `GET /v1/contacts`.

        >>> records = [record for record in client.contacts.list()]
        """
        return Listing(self._core, "/v1/contacts", filters)

    def get(self, id: str) -> models.GetContactResult:
        """Reads one contact: `GET /v1/contacts/{id}`.

        >>> answer = client.contacts.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetContactResult", self._core.call("GET", f"/v1/contacts/{segment('id', id)}"))


class EquipmentResource(Resource):
    """Operations of equipment."""

    def list(self, **filters: Unpack[models.ListEquipmentQuery]) -> Listing[models.Equipment, models.ListEquipmentResult]:
        """Lists equipment: `GET /v1/equipment`.

        >>> records = [record for record in client.equipment.list()]
        """
        return Listing(self._core, "/v1/equipment", filters)

    def get(self, id: str) -> models.GetEquipmentResult:
        """Reads one piece of equipment: `GET /v1/equipment/{id}`.

        >>> answer = client.equipment.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetEquipmentResult", self._core.call("GET", f"/v1/equipment/{segment('id', id)}"))


class EstimatesResource(Resource):
    """Operations of estimates."""

    def list(self, **filters: Unpack[models.ListEstimatesQuery]) -> Listing[models.Estimate, models.ListEstimatesResult]:
        """Lists estimates: `GET /v1/estimates`.

        >>> records = [record for record in client.estimates.list()]
        """
        return Listing(self._core, "/v1/estimates", filters)

    def get(self, id: str) -> models.GetEstimateResult:
        """Reads one estimate: `GET /v1/estimates/{id}`.

        >>> answer = client.estimates.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetEstimateResult", self._core.call("GET", f"/v1/estimates/{segment('id', id)}"))


class FormResponsesResource(Resource):
    """Operations of form-responses."""

    def list(self, **filters: Unpack[models.ListFormResponsesQuery]) -> Listing[models.FormResponse, models.ListFormResponsesResult]:
        """Lists form responses: `GET /v1/form-responses`.

        >>> records = [record for record in client.form_responses.list()]
        """
        return Listing(self._core, "/v1/form-responses", filters)

    def get(self, id: str) -> models.GetFormResponseResult:
        """Reads one form response: `GET /v1/form-responses/{id}`.

        >>> answer = client.form_responses.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetFormResponseResult", self._core.call("GET", f"/v1/form-responses/{segment('id', id)}"))


class InvoicesResource(Resource):
    """Operations of invoices."""

    def list(self, **filters: Unpack[models.ListInvoicesQuery]) -> Listing[models.Invoice, models.ListInvoicesResult]:
        """Lists invoices: `GET /v1/invoices`.

        >>> records = [record for record in client.invoices.list()]
        """
        return Listing(self._core, "/v1/invoices", filters)

    def get(self, id: str) -> models.GetInvoiceResult:
        """Reads one invoice: `GET /v1/invoices/{id}`.

        >>> answer = client.invoices.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetInvoiceResult", self._core.call("GET", f"/v1/invoices/{segment('id', id)}"))


class JobAppointmentsResource(Resource):
    """Operations of job-appointments."""

    def list(self, **filters: Unpack[models.ListVisitsQuery]) -> Listing[models.Visit, models.ListVisitsResult]:
        """Lists visits: `GET /v1/job-appointments`.

        >>> records = [record for record in client.job_appointments.list()]
        """
        return Listing(self._core, "/v1/job-appointments", filters)

    def get(self, id: str) -> models.GetVisitResult:
        """Reads one visit: `GET /v1/job-appointments/{id}`.

        >>> answer = client.job_appointments.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetVisitResult", self._core.call("GET", f"/v1/job-appointments/{segment('id', id)}"))


class JobAssignmentsResource(Resource):
    """Operations of job-assignments."""

    def list(self, **filters: Unpack[models.ListAssignmentsQuery]) -> Listing[models.Assignment, models.ListAssignmentsResult]:
        """Lists assignments: `GET /v1/job-assignments`.

        >>> records = [record for record in client.job_assignments.list()]
        """
        return Listing(self._core, "/v1/job-assignments", filters)

    def create(self, body: models.AddAssignmentRequest, *, idempotency_key: str | None = None) -> models.AddAssignmentResult:
        """Adds one technician to a visit: `POST /v1/job-assignments`.

        >>> answer = client.job_assignments.create({"expected_revision": "4652a938b8028acb0afa2f3b317a5cf538a7ca1348f74fbadf574a6458c3f33c", "appointment_id": "fb6c4231-8152-45a1-815f-b38bb1fcd2c8", "team_member_id": "d2d32845-cf1b-455c-822d-bab751650f3a", "starts_at": "2026-03-02T14:00:00Z", "ends_at": "2026-03-02T16:00:00Z", "allow_outside_window": False, "customer_notification": {"contact_id": "093e7d5f-dbaa-4fa9-8448-861b11075b3f", "message": "Dana is on the way to you tomorrow at 8."}})
        """
        return cast("models.AddAssignmentResult", self._core.call("POST", "/v1/job-assignments", body=body, idempotency_key=idempotency_key or new_key()))

    def get(self, id: str) -> models.GetAssignmentResult:
        """Reads one assignment: `GET /v1/job-assignments/{id}`.

        >>> answer = client.job_assignments.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetAssignmentResult", self._core.call("GET", f"/v1/job-assignments/{segment('id', id)}"))

    def delete(self, id: str, body: models.RemoveAssignmentRequest, *, idempotency_key: str | None = None) -> models.RemoveAssignmentResult:
        """Removes one assignment that is neither active nor completed: `DELETE /v1/job-assignments/{id}`.

        >>> answer = client.job_assignments.delete("de092f23-b2d3-426c-8422-11bb1ec55cd7", {"expected_revision": "4652a938b8028acb0afa2f3b317a5cf538a7ca1348f74fbadf574a6458c3f33c", "customer_notification": {"contact_id": "093e7d5f-dbaa-4fa9-8448-861b11075b3f", "message": "Dana is on the way to you tomorrow at 8."}})
        """
        return cast("models.RemoveAssignmentResult", self._core.call("DELETE", f"/v1/job-assignments/{segment('id', id)}", body=body, idempotency_key=idempotency_key or new_key()))


class JobClassesResource(Resource):
    """Operations of job-classes."""

    def list(self, **filters: Unpack[models.ListJobClassesQuery]) -> Listing[models.JobClassDefinition, models.ListJobClassesResult]:
        """Lists job classes: `GET /v1/job-classes`.

        >>> records = [record for record in client.job_classes.list()]
        """
        return Listing(self._core, "/v1/job-classes", filters)

    def get(self, id: str) -> models.GetJobClassResult:
        """Reads one job class: `GET /v1/job-classes/{id}`.

        >>> answer = client.job_classes.get("SERVICE")
        """
        return cast("models.GetJobClassResult", self._core.call("GET", f"/v1/job-classes/{segment('id', id)}"))


class JobFinancialsResource(Resource):
    """Operations of job-financials."""

    def list(self, **filters: Unpack[models.ListJobFinancialsQuery]) -> Listing[models.JobFinancials, models.ListJobFinancialsResult]:
        """Lists job financials: `GET /v1/job-financials`.

        >>> records = [record for record in client.job_financials.list()]
        """
        return Listing(self._core, "/v1/job-financials", filters)

    def get(self, id: str) -> models.GetJobFinancialsResult:
        """Reads one job's financials: `GET /v1/job-financials/{id}`.

        >>> answer = client.job_financials.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetJobFinancialsResult", self._core.call("GET", f"/v1/job-financials/{segment('id', id)}"))


class JobLeadsResource(Resource):
    """Operations of job-leads."""

    def list(self, **filters: Unpack[models.ListJobLeadsQuery]) -> Listing[models.JobLead, models.ListJobLeadsResult]:
        """Lists job leads: `GET /v1/job-leads`.

        >>> records = [record for record in client.job_leads.list()]
        """
        return Listing(self._core, "/v1/job-leads", filters)

    def get(self, id: str) -> models.GetJobLeadResult:
        """Reads one job lead: `GET /v1/job-leads/{id}`.

        >>> answer = client.job_leads.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetJobLeadResult", self._core.call("GET", f"/v1/job-leads/{segment('id', id)}"))


class JobLifecyclesResource(Resource):
    """Operations of job-lifecycles."""

    def list(self, **filters: Unpack[models.ListJobLifecyclesQuery]) -> Listing[models.JobLifecycle, models.ListJobLifecyclesResult]:
        """Lists job lifecycles: `GET /v1/job-lifecycles`.

        >>> records = [record for record in client.job_lifecycles.list()]
        """
        return Listing(self._core, "/v1/job-lifecycles", filters)

    def get(self, id: str) -> models.GetJobLifecycleResult:
        """Reads one job lifecycle: `GET /v1/job-lifecycles/{id}`.

        >>> answer = client.job_lifecycles.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetJobLifecycleResult", self._core.call("GET", f"/v1/job-lifecycles/{segment('id', id)}"))


class JobTypesResource(Resource):
    """Operations of job-types."""

    def list(self, **filters: Unpack[models.ListJobTypesQuery]) -> Listing[models.JobType, models.ListJobTypesResult]:
        """Lists job types: `GET /v1/job-types`.

        >>> records = [record for record in client.job_types.list()]
        """
        return Listing(self._core, "/v1/job-types", filters)

    def get(self, id: str) -> models.GetJobTypeResult:
        """Reads one job type: `GET /v1/job-types/{id}`.

        >>> answer = client.job_types.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetJobTypeResult", self._core.call("GET", f"/v1/job-types/{segment('id', id)}"))


class JobsResource(Resource):
    """Operations of jobs."""

    def list(self, **filters: Unpack[models.ListJobsQuery]) -> Listing[models.Job, models.ListJobsResult]:
        """Lists jobs: `GET /v1/jobs`.

        >>> records = [record for record in client.jobs.list()]
        """
        return Listing(self._core, "/v1/jobs", filters)

    def get(self, id: str) -> models.GetJobResult:
        """Reads one job: `GET /v1/jobs/{id}`.

        >>> answer = client.jobs.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetJobResult", self._core.call("GET", f"/v1/jobs/{segment('id', id)}"))


class LeadSourcesResource(Resource):
    """Operations of lead-sources."""

    def list(self, **filters: Unpack[models.ListLeadSourcesQuery]) -> Listing[models.LeadSource, models.ListLeadSourcesResult]:
        """Lists lead sources: `GET /v1/lead-sources`.

        >>> records = [record for record in client.lead_sources.list()]
        """
        return Listing(self._core, "/v1/lead-sources", filters)

    def get(self, id: str) -> models.GetLeadSourceResult:
        """Reads one lead source: `GET /v1/lead-sources/{id}`.

        >>> answer = client.lead_sources.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetLeadSourceResult", self._core.call("GET", f"/v1/lead-sources/{segment('id', id)}"))


class LocationsResource(Resource):
    """Operations of locations."""

    def list(self, **filters: Unpack[models.ListLocationsQuery]) -> Listing[models.Location, models.ListLocationsResult]:
        """Lists locations: `GET /v1/locations`.

        >>> records = [record for record in client.locations.list()]
        """
        return Listing(self._core, "/v1/locations", filters)

    def get(self, id: str) -> models.GetLocationResult:
        """Reads one location: `GET /v1/locations/{id}`.

        >>> answer = client.locations.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetLocationResult", self._core.call("GET", f"/v1/locations/{segment('id', id)}"))


class PaymentsResource(Resource):
    """Operations of payments."""

    def list(self, **filters: Unpack[models.ListPaymentsQuery]) -> Listing[models.Payment, models.ListPaymentsResult]:
        """Lists payments: `GET /v1/payments`.

        >>> records = [record for record in client.payments.list()]
        """
        return Listing(self._core, "/v1/payments", filters)

    def get(self, id: str) -> models.GetPaymentResult:
        """Reads one payment: `GET /v1/payments/{id}`.

        >>> answer = client.payments.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetPaymentResult", self._core.call("GET", f"/v1/payments/{segment('id', id)}"))


class RefundsResource(Resource):
    """Operations of refunds."""

    def list(self, **filters: Unpack[models.ListRefundsQuery]) -> Listing[models.Refund, models.ListRefundsResult]:
        """Lists refunds: `GET /v1/refunds`.

        >>> records = [record for record in client.refunds.list()]
        """
        return Listing(self._core, "/v1/refunds", filters)

    def get(self, id: str) -> models.GetRefundResult:
        """Reads one refund: `GET /v1/refunds/{id}`.

        >>> answer = client.refunds.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetRefundResult", self._core.call("GET", f"/v1/refunds/{segment('id', id)}"))


class ReportsResource(Resource):
    """Operations of reports."""

    def collections(self, **filters: Unpack[models.GetCollectionsReportQuery]) -> Listing[models.CollectionsRow, models.GetCollectionsReportResult]:
        """Reads the collections report: `GET /v1/reports/collections`.

        >>> records = [record for record in client.reports.collections(start_date="2026-01-01", end_date="2026-04-01")]
        """
        return Listing(self._core, "/v1/reports/collections", filters)

    def invoice_activity(self, **filters: Unpack[models.GetInvoiceActivityReportQuery]) -> Listing[models.InvoiceActivityRow, models.GetInvoiceActivityReportResult]:
        """Reads the invoice activity report: `GET /v1/reports/invoice-activity`.

        >>> records = [record for record in client.reports.invoice_activity(start_date="2026-01-01", end_date="2026-04-01")]
        """
        return Listing(self._core, "/v1/reports/invoice-activity", filters)

    def job_profitability(self, **filters: Unpack[models.GetJobProfitabilityReportQuery]) -> Listing[models.JobProfitabilityRow, models.GetJobProfitabilityReportResult]:
        """Reads the job profitability report: `GET /v1/reports/job-profitability`.

        >>> records = [record for record in client.reports.job_profitability(start_date="2026-01-01", end_date="2026-04-01")]
        """
        return Listing(self._core, "/v1/reports/job-profitability", filters)

    def receivables(self, **filters: Unpack[models.GetReceivablesReportQuery]) -> Listing[models.ReceivablesRow, models.GetReceivablesReportResult]:
        """Reads the receivables report: `GET /v1/reports/receivables`.

        >>> records = [record for record in client.reports.receivables()]
        """
        return Listing(self._core, "/v1/reports/receivables", filters)

    def technician_participation_profitability(self, **filters: Unpack[models.GetTechnicianParticipationProfitabilityReportQuery]) -> Listing[models.TechnicianParticipationRow, models.GetTechnicianParticipationProfitabilityReportResult]:
        """Reads the technician participation profitability report: `GET /v1/reports/technician-participation-profitability`.

        >>> records = [record for record in client.reports.technician_participation_profitability(start_date="2026-01-01", end_date="2026-04-01")]
        """
        return Listing(self._core, "/v1/reports/technician-participation-profitability", filters)


class RevenueAttributionsResource(Resource):
    """Operations of revenue-attributions."""

    def list(self, **filters: Unpack[models.ListRevenueAttributionsQuery]) -> Listing[models.RevenueAttribution, models.ListRevenueAttributionsResult]:
        """Lists revenue attributions: `GET /v1/revenue-attributions`.

        >>> records = [record for record in client.revenue_attributions.list()]
        """
        return Listing(self._core, "/v1/revenue-attributions", filters)

    def get(self, id: str) -> models.GetRevenueAttributionResult:
        """Reads one revenue attribution: `GET /v1/revenue-attributions/{id}`.

        >>> answer = client.revenue_attributions.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetRevenueAttributionResult", self._core.call("GET", f"/v1/revenue-attributions/{segment('id', id)}"))


class TagsResource(Resource):
    """Operations of tags."""

    def list(self, **filters: Unpack[models.ListTagsQuery]) -> Listing[models.Tag, models.ListTagsResult]:
        """Lists tags: `GET /v1/tags`.

        >>> records = [record for record in client.tags.list()]
        """
        return Listing(self._core, "/v1/tags", filters)

    def get(self, id: str) -> models.GetTagResult:
        """Reads one tag: `GET /v1/tags/{id}`.

        >>> answer = client.tags.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetTagResult", self._core.call("GET", f"/v1/tags/{segment('id', id)}"))


class TeamMembersResource(Resource):
    """Operations of team-members."""

    def list(self, **filters: Unpack[models.ListTeamMembersQuery]) -> Listing[models.TeamMember, models.ListTeamMembersResult]:
        """Lists team members: `GET /v1/team-members`.

        >>> records = [record for record in client.team_members.list()]
        """
        return Listing(self._core, "/v1/team-members", filters)

    def get(self, id: str) -> models.GetTeamMemberResult:
        """Reads one team member: `GET /v1/team-members/{id}`.

        >>> answer = client.team_members.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetTeamMemberResult", self._core.call("GET", f"/v1/team-members/{segment('id', id)}"))


class TimeEntriesResource(Resource):
    """Operations of time-entries."""

    def list(self, **filters: Unpack[models.ListTimeEntriesQuery]) -> Listing[models.TimeEntry, models.ListTimeEntriesResult]:
        """Lists time entries: `GET /v1/time-entries`.

        >>> records = [record for record in client.time_entries.list()]
        """
        return Listing(self._core, "/v1/time-entries", filters)

    def get(self, id: str) -> models.GetTimeEntryResult:
        """Reads one time entry: `GET /v1/time-entries/{id}`.

        >>> answer = client.time_entries.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetTimeEntryResult", self._core.call("GET", f"/v1/time-entries/{segment('id', id)}"))


class TimesheetsResource(Resource):
    """Operations of timesheets."""

    def list(self, **filters: Unpack[models.ListTimesheetsQuery]) -> Listing[models.Timesheet, models.ListTimesheetsResult]:
        """Lists timesheets: `GET /v1/timesheets`.

        >>> records = [record for record in client.timesheets.list()]
        """
        return Listing(self._core, "/v1/timesheets", filters)

    def get(self, id: str) -> models.GetTimesheetResult:
        """Reads one timesheet: `GET /v1/timesheets/{id}`.

        >>> answer = client.timesheets.get("a5614527-0ce6-43be-8d1d-d012b7394867")
        """
        return cast("models.GetTimesheetResult", self._core.call("GET", f"/v1/timesheets/{segment('id', id)}"))


class Resources(Resource):
    """Every resource."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self.api_keys = ApiKeysResource(core)
        self.audit_events = AuditEventsResource(core)
        self.interactions = InteractionsResource(core)
        self.notifications = NotificationsResource(core)
        self.requests = RequestsResource(core)
        self.service_requests = ServiceRequestsResource(core)
        self.summary = SummaryResource(core)
        self.views = ViewsResource(core)
        self.webhook_event_types = WebhookEventTypesResource(core)
        self.webhooks = WebhooksResource(core)
        self.me = MeResource(core)
        self.accounts = AccountsResource(core)
        self.business_units = BusinessUnitsResource(core)
        self.company = CompanyResource(core)
        self.contacts = ContactsResource(core)
        self.equipment = EquipmentResource(core)
        self.estimates = EstimatesResource(core)
        self.form_responses = FormResponsesResource(core)
        self.invoices = InvoicesResource(core)
        self.job_appointments = JobAppointmentsResource(core)
        self.job_assignments = JobAssignmentsResource(core)
        self.job_classes = JobClassesResource(core)
        self.job_financials = JobFinancialsResource(core)
        self.job_leads = JobLeadsResource(core)
        self.job_lifecycles = JobLifecyclesResource(core)
        self.job_types = JobTypesResource(core)
        self.jobs = JobsResource(core)
        self.lead_sources = LeadSourcesResource(core)
        self.locations = LocationsResource(core)
        self.payments = PaymentsResource(core)
        self.refunds = RefundsResource(core)
        self.reports = ReportsResource(core)
        self.revenue_attributions = RevenueAttributionsResource(core)
        self.tags = TagsResource(core)
        self.team_members = TeamMembersResource(core)
        self.time_entries = TimeEntriesResource(core)
        self.timesheets = TimesheetsResource(core)
