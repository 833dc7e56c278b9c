import type { QuotaLogger } from '../../options/logger.ts'
import type { AdmittedRequest, Exchange } from '../exchange.ts'
import type { NamedFields, RateLimitFields } from '../headers.ts'
import { type NodeRequest, type NodeResponse, ResponseGate } from './response-gate.ts'

/** Properties of the framework whose response is observed. */
interface WatchDetails {
  /**
   * Whether the header objects passed to `writeHead` belong to the framework. Then fields are added to the object,
   * where the framework's users find them.
   *
   * @default false
   */
  readonly ownsHeads?: boolean | undefined
}

type WriteHead = (status: unknown, reason?: unknown, headers?: unknown) => unknown

const NO_DETAILS: WatchDetails = {}

/**
 * Sets the `RateLimit` fields of a Node response and settles its quota, in whichever way the response is written. The
 * order is: fix the head, settle, send. A status that Node rejects therefore settles nothing.
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
    watch.begin()
  }
  if (!options.quota.sync || quota.settlesAtEnd) watch.guard(options.logger)
  if (quota.settlesAtEnd) watch.settleAtClose()
}

class ResponseWatch {
  readonly #req: NodeRequest
  readonly #res: NodeResponse
  readonly #exchange: Exchange
  readonly #ownsHeads: boolean
  #gate: ResponseGate | undefined
  #closes = false
  #isWritten = false
  #hasOwnLegacy = false

  constructor(req: NodeRequest, res: NodeResponse, exchange: Exchange, ownsHeads: boolean) {
    this.#req = req
    this.#res = res
    this.#exchange = exchange
    this.#ownsHeads = ownsHeads
  }

  /** Handles the head when it is written, by any method. */
  begin(): void {
    const res = this.#res
    const writeHead = res.writeHead as WriteHead
    // Named parameters avoid an array per head.
    res.writeHead = ((status: unknown, reason: unknown, headers: unknown): unknown =>
      this.#write(writeHead, status, reason, headers)) as NodeResponse['writeHead']
  }

  /** Delays bytes until an asynchronous settlement is done. */
  guard(logger: QuotaLogger): void {
    this.#gate ??= new ResponseGate(this.#res, this.#req.method, {
      holdsBack: (status) => this.#exchange.holdsBack(status, this.#isHungUp()),
      ending: () => this.#end(),
      failed: (error) => logger.error(error),
    })
  }

  /** Watches for a response that closes before its end. */
  settleAtClose(): void {
    if (this.#closes) return
    this.#closes = true
    const { socket, stream } = this.#req
    const abort = (): void => this.#exchange.abort()
    if (this.#res.destroyed || socket.destroyed) {
      abort()
      return
    }
    // An HTTP/2 response to HEAD never closes if its handler doesn't end it, but its stream does.
    if (stream === undefined) this.#res.once('close', abort)
    else stream.once('close', abort)
    if (this.#res.socket === null) atHangUp(socket, this.#res, abort)
  }

  #end(): Promise<void> | undefined {
    const { statusCode, headersSent } = this.#res
    if (!headersSent) this.#exchange.settleByStatus(statusCode, this.#isHungUp())
    return this.#exchange.end()
  }

  /** @param writeHead the method that this watch replaced */
  #write(writeHead: WriteHead, status: unknown, reason: unknown, headers: unknown): unknown {
    const res = this.#res
    if (this.#isWritten) return writeHead.call(res, status, reason, headers)
    const judged = typeof status === 'number' ? status : res.statusCode
    // Before the head is written, because an HTTP/2 response may end with it. The refund depends on a hang-up only if
    // the status is a failure.
    const isHungUp = judged >= 400 && this.#isHungUp()
    const fields = this.#exchange.fieldsFor(judged, isHungUp)
    const legacy = this.#exchange.legacyFieldsFor(judged, isHungUp)
    if (legacy !== undefined && !res.headersSent && !hasLegacy(headers) && !hasLegacy(reason)) this.#setLegacy(legacy)
    const gate = this.#gate
    if (gate !== undefined && res.stream !== undefined && this.#exchange.holdsBack(judged, isHungUp)) {
      this.#writeLate(gate, writeHead, { judged, isHungUp, fields }, isFields(headers) ? headers : reason)
      return res
    }
    // If the head was sent already or is invalid, this throws before anything is settled.
    if (fields === undefined || res.headersSent) writeHead.call(res, status, reason, headers)
    else if (isFields(headers)) writeHead.call(res, status, reason, this.#headWith(fields, headers))
    else if (isFields(reason)) writeHead.call(res, status, this.#headWith(fields, reason))
    else {
      this.#setFields(fields)
      writeHead.call(res, status, reason, headers)
    }
    this.#isWritten = true
    const pending = this.#exchange.settle(res.statusCode, isHungUp)
    if (pending !== undefined) gate?.hold(pending)
    return res
  }

  /** Fixes a head of HTTP/2, settles, and then sends it. An invalid head throws before anything is settled. */
  #writeLate(
    gate: ResponseGate,
    writeHead: WriteHead,
    { judged, isHungUp, fields }: { judged: number; isHungUp: boolean; fields: RateLimitFields | undefined },
    given: unknown,
  ): void {
    const res = this.#res
    res.statusCode = judged
    let rest: unknown = given
    if (isFields(given)) {
      const head = fields === undefined ? given : this.#headWith(fields, given)
      for (const [name, value] of Object.entries(head)) if (value !== undefined) res.setHeader(name, value)
      rest = undefined
    } else if (fields !== undefined) this.#setFields(fields)
    this.#isWritten = true
    const pending = this.#exchange.settle(judged, isHungUp)
    const send = (): unknown => writeHead.call(res, judged, rest)
    if (pending === undefined) send()
    else gate.holdHead(pending, send)
  }

  /**
   * Returns a head with our fields after those of other libraries. It is a copy, unless the object belongs to the
   * framework.
   */
  #headWith(fields: RateLimitFields, given: Fields): Fields {
    // Our members come first: in V8, adding one after a spread takes a microsecond.
    const head: Fields = this.#ownsHeads ? given : { [POLICY]: undefined, [LIMIT]: undefined, ...given }
    let policy = this.#res.getHeader(POLICY)
    let limit = this.#res.getHeader(LIMIT)
    for (const name in given) {
      if (name.length === POLICY.length && name.toLowerCase() === POLICY) {
        policy = given[name]
        delete head[name]
      } else if (name.length === LIMIT.length && name.toLowerCase() === LIMIT) {
        limit = given[name]
        delete head[name]
      }
    }
    const all = this.#exchange.withOthers(fields, policy, limit)
    head[POLICY] = all.policy
    head[LIMIT] = all.limit
    return head
  }

  /** Sets the fields. They follow those of other libraries, and replace our own of an earlier attempt. */
  #setFields(fields: RateLimitFields): void {
    const res = this.#res
    const all = this.#exchange.withOthers(fields, res.getHeader(POLICY), res.getHeader(LIMIT))
    res.setHeader('RateLimit-Policy', all.policy)
    res.setHeader('RateLimit', all.limit)
  }

  /** Sets the fields unless the application has set its own. */
  #setLegacy(fields: NamedFields): void {
    const res = this.#res
    this.#hasOwnLegacy ||= !res.hasHeader(LEGACY_LIMIT)
    if (!this.#hasOwnLegacy) return
    for (const name in fields) res.setHeader(name, fields[name]!)
  }

  #isHungUp(): boolean {
    const { stream, socket } = this.#req
    // An HTTP/2 stream of HEAD isn't writable from the start.
    if (stream !== undefined) return stream.destroyed
    return this.#res.destroyed || socket.writable === false
  }
}

/** Pipelined requests that wait for their turn, by connection. All of a connection share one listener. */
const queues = new WeakMap<object, Set<() => void>>()

/**
 * Aborts a pipelined request whose connection closes before its turn. Its response never gets a socket, so it never
 * closes.
 */
function atHangUp(socket: NodeRequest['socket'], res: NodeResponse, abort: () => void): void {
  let queue = queues.get(socket)
  if (queue === undefined) {
    const all = new Set<() => void>()
    socket.once('close', () => {
      for (const each of all) each()
    })
    queues.set(socket, all)
    queue = all
  }
  queue.add(abort)
  res.once('close', () => queue.delete(abort))
}

const POLICY = 'ratelimit-policy'
const LIMIT = 'ratelimit'
const LEGACY_LIMIT = 'x-ratelimit-limit'

type Fields = Record<string, string | number | readonly string[] | undefined>

/** Whether the application passed older fields of its own. */
function hasLegacy(head: unknown): boolean {
  return isFields(head) && Object.keys(head).some((name) => name.toLowerCase() === LEGACY_LIMIT)
}

function isFields(head: unknown): head is Fields {
  return typeof head === 'object' && head !== null && !Array.isArray(head)
}
