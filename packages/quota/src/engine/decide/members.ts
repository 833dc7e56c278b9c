import { faultyDocument, type QuotaError } from '../../errors/quota-error.ts'
import { kindOf } from '../../errors/shown.ts'
import { isObject } from '../../options/checks.ts'
import { unknownKey } from '../../options/faults.ts'
import { refusedOptions } from '../../options/options-parser.ts'

/** The members of a request. */
export const MEMBERS = ['subject', 'operation', 'cost', 'plan', 'limits', 'signal', 'id', 'ttlMs'] as const

const THE_COST = 'use `cost`'
const THE_SUBJECT = 'use `subject`'
const THE_ID = 'use `id` of reserve() or run()'
const TO_WAIT = 'only a queue waits: use waitingQueue(quota)'
const THE_WAIT = 'use `maxWaitMs` of waitingQueue(quota)'

/** Names from other libraries, and guesses. */
const WORDS: Readonly<Record<string, string>> = {
  points: THE_COST,
  tokens: THE_COST,
  weight: THE_COST,
  amount: THE_COST,
  key: THE_SUBJECT,
  user: THE_SUBJECT,
  userId: THE_SUBJECT,
  idempotencyKey: THE_ID,
  ttl: 'use `ttlMs`, in milliseconds',
  maxWaitMs: TO_WAIT,
  timeout: THE_WAIT,
  priority: TO_WAIT,
}

/** The error for a member that requests don't have. */
export function unknownMember(name: string): QuotaError {
  return misplaced(name, unknownKey(name, MEMBERS, WORDS))
}

/** The error for a member that only reservations have. */
export function onlyReserved(name: 'id' | 'ttlMs'): QuotaError {
  return misplaced(name, 'consume() has none: use reserve() or run()')
}

function misplaced(path: string, message: string): QuotaError {
  return faultyDocument('invalid_request', 'request', [{ path, message }])
}

/**
 * Checks the last argument of a call, which may be absent.
 *
 * @param call as users write it, `reset()`
 * @throws {QuotaError} `invalid_options`
 */
export function callOptions<T extends object>(
  call: string,
  options: T | undefined,
  names: readonly (keyof T & string)[],
): Partial<T> {
  if (options === undefined) return {}
  const faults = isObject(options)
    ? Object.keys(options)
        .filter((name) => !(names as readonly string[]).includes(name))
        .map((name) => ({ path: name, message: unknownKey(name, names) }))
    : [{ path: '', message: `expected an object, { ${names.join(', ')} }, got ${kindOf(options)}` }]
  if (faults.length > 0) throw refusedOptions(call, faults)
  return options
}
