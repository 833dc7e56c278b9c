import { faultyDocument, QuotaError, type QuotaErrorCode } from '../../errors/quota-error.ts'
import { kindOf, shown } from '../../errors/shown.ts'
import { isPlain } from '../../options/checks.ts'
import { faultsOf, noSuchName, within } from '../../options/faults.ts'
import { counts, ownLimits } from '../../policy/cells.ts'
import {
  type LayerDefinition,
  type LimitNumber,
  type LimitNumbers,
  type LimitRule,
  type Policy,
  unknownOperation,
} from '../../policy/policy.ts'
import { limitNumber, numberCheck, wrongCost } from '../../policy/rules.ts'
import {
  type Cost,
  costsOf,
  costText,
  noneOf,
  takesSlots,
  type Units,
  unitNames,
  vectorOf,
} from '../../policy/units.ts'
import type { HoldOptions } from '../../store/hold-port.ts'
import type { StoreAbilities } from '../../store/quota-store.ts'
import { countedSubject, type ReservationId, type Subject } from '../../store/subjects.ts'
import type { ParsedQuotaOptions } from '../options.ts'
import {
  callOptions,
  MEMBERS,
  onlyReserved,
  type QuotaRequest,
  type ReserveRequest,
  unknownMember,
} from '../requests.ts'
import type { CompiledOperation, CompiledSettings, RequestTerms } from '../settings/compiled-settings.ts'
import { unsupported } from './store-call.ts'

/** The id of a reservation, and the lifetime of a hold. */
export interface ReservationKey {
  readonly id?: ReservationId | undefined
  readonly hold?: HoldOptions | undefined
}

/** What the checks know besides the options. */
interface CheckDetails {
  /** Of the store. */
  readonly can: StoreAbilities | undefined
  /** Called for each number of a request whose limit the policy doesn't have. */
  readonly unknownLimit: (name: string) => void
}

type CheckRules = Pick<ParsedQuotaOptions, 'idTtlMs' | 'holdTtlMs' | 'maxTtlMs' | 'maxHolds'> & CheckDetails

/** Validates arguments of callers. Programming errors are thrown here, before anything else happens. */
export class RequestCheck {
  /** The policy's units, by name. */
  readonly units: readonly string[]
  readonly #policy: Policy
  /** The limits of subjects' own, by name. */
  readonly #own: ReadonlyMap<string, LimitRule>
  readonly #ownLayers: readonly string[]
  readonly #rules: CheckRules
  readonly #nonces: Nonces

  constructor(options: ParsedQuotaOptions, details: CheckDetails) {
    const { policy } = options
    this.#policy = policy
    this.units = unitNames(policy)
    this.#ownLayers = ownLayerNames(policy.layers)
    this.#own = new Map(ownLimits(policy).map((rule) => [rule.name, rule]))
    this.#rules = { ...options, ...details }
    this.#nonces = noncesBy(options.createNonce)
  }

  /** How long a reservation's record is kept after its last use, in milliseconds. */
  get idTtlMs(): number {
    return this.#rules.idTtlMs
  }

  /** The lifetime of holds whose requests don't set one, in milliseconds; `undefined`: the store has no holds. */
  get holdTtlMs(): number | undefined {
    return this.#rules.can?.holds === true ? this.#rules.holdTtlMs : undefined
  }

  /**
   * Validates a request except its cost, and returns its operation.
   *
   * @throws {QuotaError} `unknown_operation`, `invalid_request`, `invalid_subject`, `invalid_plan`
   */
  operation(request: QuotaRequest, { operations, only }: CompiledSettings): CompiledOperation {
    const name = request?.operation
    const operation = name === undefined ? onlyOperation(request, only) : operations.get(name)
    if (operation === undefined) throw noSuchRequest(request, this.#policy)
    // Inline, because every request passes here. The compiler compares the cases with the list.
    for (const member in request) {
      const known = member as (typeof MEMBERS)[number]
      switch (known) {
        case 'subject':
        case 'operation':
        case 'cost':
        case 'plan':
        case 'limits':
        case 'signal':
        case 'id':
        case 'ttlMs':
          break
        default:
          throw unknownMember(known satisfies never)
      }
    }
    checkSubject(request.subject, this.#ownLayers)
    if (request.plan !== undefined) checkPlan(request.plan)
    return operation
  }

  /**
   * Returns the numbers of a request by name, without those that are absent or unknown.
   *
   * @throws {QuotaError} `invalid_request`
   */
  numbers(limits: QuotaRequest['limits']): LimitNumbers | undefined {
    if (limits === undefined) return undefined
    if (!isPlain(limits)) throw new QuotaError('invalid_request', `limits: expected an object, got ${kindOf(limits)}`)
    let numbers: Record<string, LimitNumber> | undefined
    for (const name in limits) {
      const given = (limits as Readonly<Record<string, unknown>>)[name]
      if (given === undefined || given === null) continue
      const rule = this.#own.get(name)
      if (rule === undefined) {
        this.#rules.unknownLimit(name)
        continue
      }
      const number = limitNumber(this.#policy.units, rule, given, false)
      if (number === undefined) {
        const faults = faultsOf(numberCheck(this.#policy, rule, { asStored: false }), given)
        throw faultyDocument('invalid_request', 'request', within(`limits.${name}`, faults))
      }
      numbers ??= {}
      numbers[name] = number
    }
    return numbers
  }

  /** Returns the subject that counts. @throws {QuotaError} `invalid_subject` */
  subject(subject: unknown): Subject {
    checkSubject(subject, this.#ownLayers)
    return countedSubject(subject)
  }

  /** Returns the subject that counts, its plan and its limits. @throws {QuotaError} `invalid_subject`, `invalid_options`, `invalid_plan` */
  status(
    given: unknown,
    options: Pick<QuotaRequest, 'plan' | 'limits'> | undefined,
  ): RequestTerms & { readonly subject: Subject } {
    const subject = this.subject(given)
    const { plan, limits } = callOptions('status()', options, ['plan', 'limits'])
    if (plan !== undefined) checkPlan(plan)
    return { subject, plan, numbers: this.numbers(limits) }
  }

  /**
   * @throws {QuotaError} `reservation_required` for operations that need a slot, because only a reservation can free it;
   * `invalid_request` for members that only reservations have
   */
  consumable({ costs, name }: CompiledOperation, { id, ttlMs }: ReserveRequest): void {
    if (id !== undefined || ttlMs !== undefined) throw onlyReserved(id === undefined ? 'ttlMs' : 'id')
    if (!takesSlots(costs)) return
    const limit = this.#policy.limits.find((rule) => rule.window === undefined && counts(rule, name))!
    const message = `"${name}" has the concurrency limit "${limit.name}", and consume() can't release its slot: use reserve() or run()`
    throw new QuotaError('reservation_required', message)
  }

  /**
   * Returns the key of a reservation. An id identifies an operation and the cost that the caller passed. It never
   * includes the price, which may change between two attempts. A hold without an id is identified by its nonce.
   *
   * @throws {QuotaError} `invalid_id`, `invalid_ttl`, `holds_unsupported`
   */
  key({ id, cost, ttlMs }: ReserveRequest, { costs, uses }: CompiledOperation): ReservationKey {
    const hold = ttlMs === undefined && !takesSlots(costs) ? undefined : this.#hold(ttlMs)
    if (id === undefined && hold === undefined) return NO_KEY
    if (id !== undefined) checkText(id, 'invalid_id', 'id')
    const { idTtlMs } = this.#rules
    const nonce = hold === undefined ? this.#nonces.ofId() : this.#nonces.ofHold()
    return id === undefined
      ? { id: { id: nonce, nonce, fingerprint: uses.hold + costText(cost), ttlMs: idTtlMs }, hold }
      : { id: { id, nonce, fingerprint: uses.id + costText(cost), ttlMs: idTtlMs }, hold }
  }

  /** Returns the cost of a request, or the price. @throws {QuotaError} `invalid_cost` */
  cost(request: QuotaRequest, price: readonly number[]): readonly number[] {
    return costOf(this.#policy.units, request, price)
  }

  /** Returns the growth of a hold as a vector. @throws {QuotaError} `invalid_cost` */
  added(cost: Cost): readonly number[] {
    return costsOf(checkedCost(this.#policy.units, cost, { what: 'add', least: 1, missing: noneOf(this.units) }), false)
  }

  /**
   * Returns the actual cost of work as a vector; `undefined`: the reserved amount. @throws {QuotaError} `invalid_cost`
   */
  actual(cost: Cost | undefined): readonly (number | undefined)[] | undefined {
    if (cost === undefined) return undefined
    const asReserved = this.units.map(() => undefined)
    return checkedCost(this.#policy.units, cost, { what: 'commit', least: 0, missing: asReserved })
  }

  /** @throws {QuotaError} `invalid_ttl` for an invalid or too long lifetime */
  ttl(ttlMs: unknown = this.#rules.holdTtlMs): number {
    const { maxTtlMs } = this.#rules
    if (Number.isSafeInteger(ttlMs) && (ttlMs as number) >= 1 && (ttlMs as number) <= maxTtlMs) return ttlMs as number
    const message = `ttlMs: expected a whole number of milliseconds, 1 to ${maxTtlMs} (maxTtlMs), got ${shown(ttlMs)}`
    throw new QuotaError('invalid_ttl', message)
  }

  #hold(ttlMs: number | undefined): HoldOptions {
    const { holdTtlMs, maxHolds, can } = this.#rules
    if (can?.holds !== true) throw unsupported('holds_unsupported', 'ttlMs: this store has no holds', can)
    return { ttlMs: ttlMs === undefined ? holdTtlMs : this.ttl(ttlMs), maxHolds }
  }
}

/**
 * Returns the cost of a request, or the price. Units that the cost leaves out are charged at the price.
 *
 * @param units of the policy
 * @throws {QuotaError} `invalid_cost`
 */
function costOf(units: Units, { cost }: QuotaRequest, price: readonly number[]): readonly number[] {
  if (cost === undefined) return price
  const vector = checkedCost(units, cost, { what: 'cost', least: 0, missing: price })
  return vector.every((amount, at) => amount === price[at]) ? price : costsOf(vector, takesSlots(price))
}

/**
 * Returns a caller's cost as a vector.
 *
 * @param least the smallest allowed amount; with several units, at least one must reach it
 * @param missing the value of units that the cost leaves out
 * @throws {QuotaError} `invalid_cost`
 */
function checkedCost<Missing>(
  units: Units,
  cost: Cost,
  { what, least, missing }: { readonly what: string; readonly least: 0 | 1; readonly missing: readonly Missing[] },
): readonly (number | Missing)[] {
  // A copy reads each getter once, so that the charge is the value that was checked.
  const given = isPlain(cost) ? { ...cost } : cost
  const fault = wrongCost(units, given, { least })
  if (fault === undefined) return vectorOf(unitNames({ units }), given, missing)
  const { unit, message } = fault
  throw new QuotaError('invalid_cost', `${unit === undefined ? what : `${what}.${unit}`}: ${message}`)
}

/** The key of a request without a hold and without an id. */
export const NO_KEY: ReservationKey = {}

/** @throws {QuotaError} `invalid_plan` unless it can be a plan's name */
function checkPlan(plan: unknown): asserts plan is string {
  checkText(plan, 'invalid_plan', 'plan')
}

/** Returns the only operation of a policy for requests that don't name one. */
function onlyOperation(request: unknown, only: CompiledOperation | undefined): CompiledOperation | undefined {
  return typeof request === 'object' && request !== null ? only : undefined
}

function noSuchRequest(request: unknown, policy: Policy): QuotaError {
  const names = Object.keys(policy.operations)
  if (typeof request === 'string') {
    const operation = names.length === 1 ? '' : `, operation: ${shown(names[0])}`
    const message = `expected a request, got ${shown(request)}: pass { subject: ${shown(request)}${operation} }`
    return new QuotaError('invalid_subject', message)
  }
  if (typeof request !== 'object' || request === null) {
    const got =
      typeof request === 'function' ? 'a function: pass the request first, run(request, work)' : kindOf(request)
    return new QuotaError('unknown_operation', `expected a request, { subject, operation }, got ${got}`)
  }
  const { operation } = request as Partial<QuotaRequest>
  if (operation === undefined) {
    const unknown = Object.keys(request).find((member) => !(MEMBERS as readonly string[]).includes(member))
    if (unknown !== undefined) return unknownMember(unknown)
  }
  return unknownOperation(operation, policy)
}

/** The longest id, in bytes of UTF-8. */
const MAX_BYTES = 256
/** A UTF-16 unit has at most three bytes in UTF-8, so shorter texts needn't be measured. */
const SURELY_SHORT = Math.floor(MAX_BYTES / 3)

/**
 * Any text can be a subject's key, because callers may choose it. Long ones are hashed.
 *
 * @throws {QuotaError} `invalid_subject` unless it is a string that isn't empty
 */
export function checkSubjectKey(text: unknown, what: string): asserts text is string {
  if (typeof text === 'string' && text.length > 0) return
  const got = typeof text === 'string' ? 'an empty text' : kindOf(text) + asText(text)
  throw new QuotaError('invalid_subject', `${what}: expected text, got ${got}`)
}

/** @throws {QuotaError} unless the text is a string of 1 to 256 bytes */
function checkText(text: unknown, code: QuotaErrorCode, what: string): asserts text is string {
  if (typeof text === 'string' && text.length > 0 && (text.length <= SURELY_SHORT || fitsBytes(text))) return
  const got = typeof text === 'string' ? `${text.length} characters` : kindOf(text) + asText(text)
  throw new QuotaError(code, `${what}: expected text of 1 to ${MAX_BYTES} bytes (UTF-8), got ${got}`)
}

/** Converts a database key to text, for messages. */
function asText(value: unknown): string {
  return typeof value === 'number' || typeof value === 'bigint' ? `: use String(${shown(value)})` : ''
}

function fitsBytes(text: string): boolean {
  return text.length <= MAX_BYTES && new TextEncoder().encode(text).length <= MAX_BYTES
}

/** Returns the layers that aren't shared. */
function ownLayerNames(layers: readonly LayerDefinition[]): readonly string[] {
  return layers.filter((layer) => !layer.shared).map(({ name }) => name)
}

/**
 * @param names see {@link ownLayerNames}
 * @throws {QuotaError} `invalid_subject` unless the subject is one string (with a single layer that isn't shared), or
 * an object with a string for each such layer
 */
function checkSubject(subject: unknown, names: readonly string[]): asserts subject is Subject {
  // Fast path: most subjects are a string, and every request runs this.
  const isText = typeof subject === 'string' && subject.length > 0
  if (!isText || names.length !== 1) checkAnySubject(subject, names)
}

function checkAnySubject(subject: unknown, names: readonly string[]): void {
  if (typeof subject === 'object' && subject !== null && typeof (subject as { then?: unknown }).then !== 'function') {
    checkKeys(subject as Record<string, unknown>, names)
    return
  }
  checkSubjectKey(subject, 'subject')
  if (names.length === 1) return
  const message = `subject: expected an object with one key for each of ${names.join(', ')}, got a string`
  throw new QuotaError('invalid_subject', message)
}

function checkKeys(keys: Readonly<Record<string, unknown>>, names: readonly string[]): void {
  const unknown = Object.keys(keys).find((key) => !names.includes(key))
  if (unknown !== undefined) {
    const message = `subject: unknown key ${noSuchName(unknown, names, 'one key for each of')}`
    throw new QuotaError('invalid_subject', message)
  }
  let isSome = false
  for (const name of names) {
    const key = Object.hasOwn(keys, name) ? keys[name] : undefined
    if (key === null) continue
    checkSubjectKey(key, `subject.${name}`)
    isSome = true
  }
  if (isSome) return
  throw new QuotaError('invalid_subject', `subject: expected a key for at least one of ${names.join(', ')}`)
}

/** Makes nonces, which identify the holders of a reservation id. They are unique across processes. */
export interface Nonces {
  /** For a reservation that only its own handle settles. Only the store sees the nonce. */
  readonly ofId: () => string
  /** For a hold. The token contains the nonce, so it must be impossible to guess. */
  readonly ofHold: () => string
}

/** @param createNonce the caller's function; absent: the default of each kind */
export function noncesBy(createNonce: (() => string) | undefined): Nonces {
  return { ofId: createNonce ?? numbered(), ofHold: createNonce ?? (() => crypto.randomUUID()) }
}

/** All numbers have the same length, so that equal texts are equal for any store. */
const DIGITS = 9

/**
 * Returns a function that counts up after 128 random bits. New random bits for each nonce would cost more than the rest
 * of a reservation.
 */
function numbered(): () => string {
  let own = ''
  let count = 0
  return () => {
    // Not before the first use, because some runtimes have no randomness while modules load.
    if (own === '') own = `${crypto.randomUUID().replaceAll('-', '')}.`
    return `${own}${(count++).toString(36).padStart(DIGITS, '0')}`
  }
}
