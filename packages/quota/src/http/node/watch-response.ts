import type { QuotaLogger } from '../../options/logger.ts'
import type { Exchange } from '../exchange.ts'
import type { NamedFields, RateLimitFields } from '../headers.ts'
import type { AdmittedRequest } from '../http-meter.ts'
import { type NodeRequest, type NodeResponse, ResponseGate } from './response-gate.ts'

/** Properties of the framework whose response is watched. */
interface WatchDetails {
  /**
   * Whether objects of fields that `writeHead` is given are the framework's own, so that fields may be put there, where
   * its users look for them.
   * @default false
   */
  readonly ownsHeads?: boolean | undefined
}

type WriteHead = (status: unknown, reason?: unknown, headers?: unknown) => unknown

const NO_DETAILS: WatchDetails = {}

/**
 * Settles what was admitted by the response that Node's server writes, in whichever way it is written, and sets the
 * `RateLimit` fields. The head is fixed first, so that a status Node refuses is never judged, then settled, and only
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

  /** Judges the head when it is written, in whichever way. */
  begin(): void {
    const res = this.#res
    const writeHead = res.writeHead as WriteHead
    // Arguments by name: a list of them would be made for each head.
    res.writeHead = ((status: unknown, reason: unknown, headers: unknown): unknown =>
      this.#write(writeHead, status, reason, headers)) as NodeResponse['writeHead']
  }

  /** Where settling may take its time, bytes wait for it. */
  guard(logger: QuotaLogger): void {
    this.#gate ??= new ResponseGate(this.#res, this.#req.method, {
      holdsBack: (status) => this.#exchange.holdsBack(status, this.#isHungUp()),
      ending: () => this.#end(),
      failed: (error) => logger.error(error),
    })
  }

  /** A response may close before its end. */
  settleAtClose(): void {
    if (this.#closes) return
    this.#closes = true
    const { socket } = this.#req
    const abort = (): void => this.#exchange.abort()
    if (this.#res.destroyed || socket.destroyed) {
      abort()
      return
    }
    this.#res.once('close', abort)
    if (this.#res.socket === null) atHangUp(socket, this.#res, abort)
  }

  #end(): Promise<void> | undefined {
    const { statusCode, headersSent } = this.#res
    if (!headersSent) this.#exchange.settleByStatus(statusCode, this.#isHungUp())
    return this.#exchange.end()
  }

  /** @param writeHead what the response is written by beneath this watch */
  #write(writeHead: WriteHead, status: unknown, reason: unknown, headers: unknown): unknown {
    const res = this.#res
    if (this.#isWritten) return writeHead.call(res, status, reason, headers)
    const judged = typeof status === 'number' ? status : res.statusCode
    // Of an answer that is no failure it makes no difference whether its caller is still there.
    const isHungUp = judged >= 400 && this.#isHungUp()
    const fields = this.#exchange.fieldsFor(judged, isHungUp)
    const legacy = this.#exchange.legacyFieldsFor(judged, isHungUp)
    if (legacy !== undefined && !res.headersSent && !hasLegacy(headers) && !hasLegacy(reason)) this.#setLegacy(legacy)
    // Throws where the head is gone already, or wrong: then nothing is settled by it.
    if (fields === undefined || res.headersSent) writeHead.call(res, status, reason, headers)
    else if (isFields(headers)) writeHead.call(res, status, reason, this.#headWith(fields, headers))
    else if (isFields(reason)) writeHead.call(res, status, this.#headWith(fields, reason))
    else {
      this.#setFields(fields)
      writeHead.call(res, status, reason, headers)
    }
    this.#isWritten = true
    const written = res.statusCode
    const pending = this.#exchange.settle(written, written >= 400 && this.#isHungUp())
    if (pending !== undefined) this.#gate?.hold(pending)
    return res
  }

  /** A head with our fields in it, behind those of others; a copy, unless the object is the framework's own. */
  #headWith(fields: RateLimitFields, given: Fields): Fields {
    // Ours first: Node's engine takes a microsecond to add a member behind a spread.
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

  /** Sets fields: behind those of others, in place of our own of an earlier try. */
  #setFields(fields: RateLimitFields): void {
    const res = this.#res
    const all = this.#exchange.withOthers(fields, res.getHeader(POLICY), res.getHeader(LIMIT))
    res.setHeader('RateLimit-Policy', all.policy)
    res.setHeader('RateLimit', all.limit)
  }

  /** Sets fields that the response doesn't have, or has from an earlier try. */
  #setLegacy(fields: NamedFields): void {
    const res = this.#res
    this.#hasOwnLegacy ||= !res.hasHeader(LEGACY_LIMIT)
    if (!this.#hasOwnLegacy) return
    for (const name in fields) res.setHeader(name, fields[name]!)
  }

  #isHungUp(): boolean {
    return this.#res.destroyed || this.#req.socket.writable === false
  }
}

/** Pipelined requests of a connection that wait for their turn; one listener for all of them. */
const queues = new WeakMap<object, Set<() => void>>()

/** Aborts a pipelined request whose connection is lost before its turn: its response gets no socket, so it never closes. */
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

/** Whether a head that is given has older fields of its own. */
function hasLegacy(head: unknown): boolean {
  return isFields(head) && Object.keys(head).some((name) => name.toLowerCase() === LEGACY_LIMIT)
}

function isFields(head: unknown): head is Fields {
  return typeof head === 'object' && head !== null && !Array.isArray(head)
}
