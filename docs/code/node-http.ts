import type {
  IncomingMessage,
  RequestListener,
  ServerResponse,
} from 'node:http'
import {
  Exchange,
  type HttpAdapter,
  type HttpMeter,
  type HttpMeterOptions,
  httpMeter,
  type QuotaAnswer,
  type RequestQuota,
  type RouteOptions,
  watchResponse,
} from '@scoregw/quota/http'

/** Reads a request of Node's server. */
const NODE: HttpAdapter<IncomingMessage> = {
  name: 'quotaListener()',
  method: ({ method = 'GET' }) => method,
  languages: ({ headers }) => headers['accept-language'],
  address: ({ socket }) => socket.remoteAddress,
}

/** A listener. Its third argument is a metered request's quota. */
type Metered = (
  req: IncomingMessage,
  res: ServerResponse,
  quota: RequestQuota | undefined,
) => unknown

/**
 * Meters listeners of Node's server: `metered.operation('write')((req,
 * res) => res.end())`.
 */
export function quotaListener<Operation extends string>(
  options: HttpMeterOptions<IncomingMessage, Operation>,
) {
  const meter = httpMeter(options, NODE)
  return {
    /** Every request is what `options.operation` says. */
    each: (listener: Metered) => metering(meter, listener),
    /** Every request is one operation. */
    operation(
      name: Operation,
      overrides: Partial<RouteOptions<IncomingMessage>> = {},
    ) {
      const ofRoute = meter.operation(name, overrides)
      return (listener: Metered) => metering(ofRoute, listener)
    },
  }
}

function metering(
  meter: HttpMeter<IncomingMessage>,
  listener: Metered,
): RequestListener {
  return async (req, res) => {
    try {
      const admission = await meter.admit(req, res)
      if (admission.kind === 'gone') return
      if (admission.kind === 'answer') {
        answer(res, admission)
        return
      }
      if (admission.kind === 'metered')
        watchResponse(admission, req, res)
      await listener(
        req,
        res,
        admission.kind === 'metered' ? admission.quota : undefined,
      )
    } catch (error) {
      // The listener has failed, even if its caller has disconnected.
      await Exchange.find(req)?.fail()
      console.error(error)
      fail(res)
    }
  }
}

function fail(res: ServerResponse): void {
  if (!res.headersSent) res.writeHead(500).end()
  // A response that something else has sent stays whole.
  else if (!res.writableEnded) res.destroy()
}

function answer(
  res: ServerResponse,
  { status, headers, content, contentType }: QuotaAnswer,
): void {
  res
    .writeHead(status, { ...headers, 'Content-Type': contentType })
    .end(JSON.stringify(content))
}
