import type { Exchange } from '../exchange.ts'
import type { AdmittedRequest } from '../http-meter.ts'
import type { QuotaLogger } from '../warnings.ts'
import type { NodeRequest, NodeResponse } from './node-response.ts'
import { ResponseGate } from './response-gate.ts'

type WriteHead = (status: unknown, reason: unknown, headers: unknown) => unknown

/** Where a response keeps its watch: one for all of its quotas. */
const WATCH: unique symbol = Symbol.for('@scoregw/quota/http/node') as never

interface Watched {
  [WATCH]?: ResponseWatch
}

/** What the framework is like whose response is watched. */
export interface WatchDetails {
  /**
   * Whether objects of fields that `writeHead` is given are the framework's own, so that fields may be put there, which
   * costs less than to set them.
   * @default false
   */
  readonly ownsHeads?: boolean | undefined
}

const NO_DETAILS: WatchDetails = {}

/**
 * Settles what was admitted by the response that Node's server writes, in whichever way it is written, and sets the
 * fields of the draft. The head is fixed first, so that a status Node refuses is never judged, then settled, and only
 * then sent.
 */
export function watchResponse(
  { quota, exchange, options }: AdmittedRequest,
  req: NodeRequest,
  res: NodeResponse,
  details: WatchDetails = NO_DETAILS,
): void {
  if (!quota.watches) return
  const holder = res as unknown as Watched
  let watch = holder[WATCH]
  if (watch === undefined) {
    watch = new ResponseWatch(req, res, exchange, details.ownsHeads === true)
    holder[WATCH] = watch
  }
  if (!options.quota.sync || quota.settlesAtEnd) watch.guard(options.logger)
}

class ResponseWatch {
  readonly #req: NodeRequest
  readonly #res: NodeResponse
  readonly #exchange: Exchange
  readonly #ownsHeads: boolean
  #gate: ResponseGate | undefined

  constructor(req: NodeRequest, res: NodeResponse, exchange: Exchange, ownsHeads: boolean) {
    this.#req = req
    this.#res = res
    this.#exchange = exchange
    this.#ownsHeads = ownsHeads
    const writeHead = res.writeHead as WriteHead
    // Named one by one: an array for them is made for no head.
    res.writeHead = ((status: unknown, reason: unknown, headers: unknown) =>
      this.#writeHead(writeHead, status, reason, headers)) as NodeResponse['writeHead']
  }

  /** Where settling may take its time, bytes wait for it. */
  guard(logger: QuotaLogger): void {
    this.#gate ??= new ResponseGate(this.#res, this.#req.method, {
      holdsBack: (status) => this.#exchange.holdsBack(status, this.#isHungUp()),
      ending: () => this.#exchange.end(),
      failed: (error) => logger.error(error),
    })
  }

  #writeHead(writeHead: WriteHead, status: unknown, reason: unknown, headers: unknown): unknown {
    const res = this.#res
    if (res.headersSent) return writeHead.call(res, status, reason, headers)
    this.#setFields(typeof status === 'number' ? status : res.statusCode, headers ?? reason)
    writeHead.call(res, status, reason, headers)
    const pending = this.#exchange.settle(res.statusCode, this.#isHungUp())
    if (pending !== undefined) this.#gate?.hold(pending)
    return res
  }

  #setFields(status: number, head: unknown): void {
    const res = this.#res
    const exchange = this.#exchange
    if (this.#ownsHeads && isFields(head)) {
      const fields = exchange.headersFor(status, this.#isHungUp(), (name) => head[name.toLowerCase()]?.toString())
      for (const name in fields) head[name.toLowerCase()] = fields[name]
      return
    }
    const fields = exchange.headersFor(status, this.#isHungUp(), (name) => res.getHeader(name)?.toString())
    for (const name in fields) res.setHeader(name, fields[name] as string)
  }

  #isHungUp(): boolean {
    return this.#res.destroyed || this.#req.socket.writable === false
  }
}

function isFields(head: unknown): head is Record<string, string | number | readonly string[] | undefined> {
  return typeof head === 'object' && head !== null && !Array.isArray(head)
}
