import com.fasterxml.jackson.databind.ObjectMapper;
import example.ApiClient;
import example.ApiException;
import example.api.CompanyApi;
import example.api.InvoicesApi;
import example.model.ErrorResponse;
import example.model.Invoice;
import example.model.InvoiceStatus;
import example.model.WebhookTest;
import java.io.PrintStream;
import java.util.List;
import java.util.UUID;

public class Main {
  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("TRUCKROLL_URL"));
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + System.getenv("TRUCKROLL_API_KEY")));
    String name = new CompanyApi(client).getCompany().getData().getName();
    InvoicesApi invoices = new InvoicesApi(client);
    List<InvoiceStatus> statuses = List.of(InvoiceStatus.OPEN, InvoiceStatus.PAID);
    Invoice invoice = invoices.listInvoices(InvoicesApi.APIListInvoicesRequest.newBuilder().limit(2).status(statuses).build()).getData().get(0);
    String code = "";
    try {
      invoices.getInvoice(InvoicesApi.APIGetInvoiceRequest.newBuilder().id(UUID.fromString("00000000-0000-4000-8000-000000000000")).build());
    } catch (ApiException refused) {
      code = client.getObjectMapper().readValue(refused.getResponseBody(), ErrorResponse.class).getError().getCode().toString();
    }
    WebhookTest event = new WebhookTest().type(WebhookTest.TypeEnum.WEBHOOK_TEST);
    List<Object> told = List.of(name, invoice.getNumber(), invoice.getAmounts().getOpenBalanceCents(), code, event.getType().getValue());
    new PrintStream(System.out, true, "UTF-8").println(new ObjectMapper().writeValueAsString(told));
  }
}
