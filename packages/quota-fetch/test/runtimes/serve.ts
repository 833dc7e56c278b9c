import { HttpApp, type HttpScenario } from '@scoregw/quota-testkit/http'
import { fetchApp, type ServedFetch } from '../support/apps.ts'

let served: ServedFetch = () => new Response(null, { status: 404 })

/** Serves the scenario that was posted last: starting a runtime for each would take longer than the cases do. */
export async function serve(request: Request, address?: string): Promise<Response> {
  if (new URL(request.url).pathname !== '/-/scenario') return served(request, address)
  served = fetchApp(new HttpApp((await request.json()) as HttpScenario))
  return Response.json(null)
}
