package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"

	"example/truckroll"

	"github.com/google/uuid"
)

func main() {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("TRUCKROLL_API_KEY"))
		return nil
	}
	client, err := truckroll.NewClientWithResponses(os.Getenv("TRUCKROLL_URL"), truckroll.WithRequestEditorFn(authorize))
	check(err)
	company, err := client.GetCompanyWithResponse(context.Background())
	check(err)
	limit := 2
	status := []truckroll.InvoiceStatus{"OPEN", "PAID"}
	invoices, err := client.ListInvoicesWithResponse(context.Background(), &truckroll.ListInvoicesParams{Limit: &limit, Status: &status})
	check(err)
	invoice := invoices.JSON200.Data[0]
	refused, err := client.GetInvoiceWithResponse(context.Background(), uuid.MustParse("00000000-0000-4000-8000-000000000000"))
	check(err)
	var event truckroll.WebhookTest
	event.Type = "webhook.test"
	output := json.NewEncoder(os.Stdout)
	output.SetEscapeHTML(false)
	check(output.Encode([]any{company.JSON200.Data.Name, invoice.Number, invoice.Amounts.OpenBalanceCents, refused.JSON404.Error.Code, event.Type}))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
