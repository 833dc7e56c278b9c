import type { DraftFields } from '../draft-texts.ts'
import { Exchange } from '../exchange.ts'
import type { AdmittedRequest } from '../http-meter.ts'
import type { QuotaLogger } from '../warnings.ts'
import { addToHead, headIsText } from './head-text.ts'
import { type NodeRequest, type NodeResponse, nodeCarrier } from './node-response.ts'
import { ResponseGate } from './response-gate.ts'

/** What the framework is like whose response is watched. */
export interface WatchDetails {
  /**
   * Whether objects of fields that `writeHead` is given are the framework's own, so that fields may be put there, which
   * costs less than to set them.
   * @default false
   */
  readonly ownsHeads?: boolean | undefined
  /**
   * A {@link hookedWriteHead} that the framework's responses inherit: one that has no other `writeHead` is not given its
   * own.
   * @default each response that is watched gets its own
   */
  readonly hook?: WriteHead | undefined
}

/** `writeHead` of a response of Node's. */
export type WriteHead = (this: NodeResponse, status: unknown, reason?: unknown, headers?: unknown) => unknown

/**
 * A `writeHead` for the prototype of a framework's responses: those that are watched are written by their watch. A
 * response is watched by the exchange that the {@link nodeCarrier} of its `req` has, as Node's responses have it.
 */
export function hookedWriteHead(writeHead: WriteHead): WriteHead {
  return function hooked(status, reason, headers) {
    const { req } = this
    const watch = req === undefined ? undefined : (Exchange.find(nodeCarrier(req))?.watch as ResponseWatch | undefined)
    return watch?.isHooked === true
      ? watch.write(writeHead, status, reason, headers)
      : writeHead.call(this, status, reason, headers)
  }
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
  let watch = exchange.watch as ResponseWatch | undefined
  if (watch === undefined) {
    watch = new ResponseWatch(req, res, exchange, details.ownsHeads === true)
    exchange.watch = watch
    watch.begin(details.hook)
  }
  if (!options.quota.sync || quota.settlesAtEnd) watch.guard(options.logger)
  if (quota.settlesAtEnd) watch.settleAtClose()
}

class ResponseWatch {
  /** Whether the response inherits what it is written by. */
  isHooked = false
  readonly #req: NodeRequest
  readonly #res: NodeResponse
  readonly #exchange: Exchange
  readonly #ownsHeads: boolean
  /** Whether fields may be added to the head when Node has made it. */
  #isText = false
  #gate: ResponseGate | undefined
  #closes = false
  #isWritten = false

  constructor(req: NodeRequest, res: NodeResponse, exchange: Exchange, ownsHeads: boolean) {
    this.#req = req
    this.#res = res
    this.#exchange = exchange
    this.#ownsHeads = ownsHeads
  }

  begin(hook: WriteHead | undefined): void {
    const res = this.#res
    const beneath = res.writeHead as WriteHead
    this.isHooked = beneath === hook && res.req === this.#req
    if (this.isHooked) return
    this.#isText = this.#ownsHeads && headIsText(beneath)
    // Arguments by name: a list of them would be made anew for each head.
    const writeHead = (status: unknown, reason: unknown, headers: unknown): unknown =>
      this.write(beneath, status, reason, headers)
    res.writeHead = writeHead as NodeResponse['writeHead']
  }

  /** Where settling may take its time, bytes wait for it. */
  guard(logger: QuotaLogger): void {
    this.#gate ??= new ResponseGate(this.#res, this.#req.method, {
      holdsBack: (status) => this.#exchange.holdsBack(status, this.#isHungUp()),
      ending: () => this.#end(),
      failed: (error) => logger.error(error),
    })
  }

  /** A response that is broken off is over too: then settles what its end would have settled. */
  settleAtClose(): void {
    if (this.#closes) return
    this.#closes = true
    // Those who listen as well come first: a handler that hears of it may still say what its work has cost.
    const settle = (): void => void setTimeout(() => void this.#exchange.end(), 0)
    if (this.#res.destroyed) settle()
    else this.#res.once('close', settle)
  }

  #end(): Promise<void> | undefined {
    const { statusCode, headersSent } = this.#res
    if (!headersSent) this.#exchange.judge(statusCode, this.#isHungUp())
    return this.#exchange.end()
  }

  /** @param writeHead what the response is written by beneath this watch */
  write(writeHead: WriteHead, status: unknown, reason: unknown, headers: unknown): unknown {
    const res = this.#res
    if (this.#isWritten) return writeHead.call(res, status, reason, headers)
    const told = typeof status === 'number' ? status : res.statusCode
    // Of an answer that is no failure it makes no difference whether its caller is still there.
    const fields = this.#exchange.fieldsFor(told, told >= 400 && this.#isHungUp())
    const head = headers ?? reason
    if (fields !== undefined && this.#hasNone(head)) {
      writeHead.call(res, status, reason, headers)
      addToHead(res, fields)
      // Where the framework's users look for what was written.
      head[POLICY] = fields.policy
      head[LIMIT] = fields.limit
    } else {
      if (fields !== undefined && !res.headersSent) this.#setFields(fields, head)
      // Throws where the head is gone already, or wrong: then nothing is settled by it.
      writeHead.call(res, status, reason, headers)
    }
    this.#isWritten = true
    const written = res.statusCode
    const pending = this.#exchange.settle(written, written >= 400 && this.#isHungUp())
    if (pending !== undefined) this.#gate?.hold(pending)
    return res
  }

  /** Whether fields of nobody's are to stand beside ours, so that ours may be added when the head is a text. */
  #hasNone(head: unknown): head is Fields {
    if (!this.#isText || !isFields(head)) return false
    // Node sends a head with `Expect` at once.
    return head[POLICY] === undefined && head[LIMIT] === undefined && head.expect === undefined
  }

  /** Puts fields into the head: behind those of others, in place of our own of an earlier try. */
  #setFields(fields: DraftFields, head: unknown): void {
    const res = this.#res
    if (this.#ownsHeads && isFields(head)) {
      const told = this.#exchange.told(fields, head[POLICY], head[LIMIT])
      head[POLICY] = told.policy
      head[LIMIT] = told.limit
      return
    }
    const told = this.#exchange.told(fields, res.getHeader(POLICY), res.getHeader(LIMIT))
    res.setHeader('RateLimit-Policy', told.policy)
    res.setHeader('RateLimit', told.limit)
  }

  #isHungUp(): boolean {
    return this.#res.destroyed || this.#req.socket.writable === false
  }
}

/** Names in small letters: as a framework has them, and as Node looks them up. */
const POLICY = 'ratelimit-policy'
const LIMIT = 'ratelimit'

type Fields = Record<string, string | number | readonly string[] | undefined>

function isFields(head: unknown): head is Fields {
  return typeof head === 'object' && head !== null && !Array.isArray(head)
}
