import { type Fault, faultyDocument, type QuotaError } from '../errors/quota-error.ts'
import { kindOf } from '../errors/shown.ts'
import { type Check, type Checks, group } from './checks.ts'
import { checked, faultsOf } from './faults.ts'
import { NAMES_ELSEWHERE } from './names-elsewhere.ts'
import { isPlain } from './objects.ts'
import { once } from './once.ts'

/** What an {@link optionsParser} may be told besides. */
export interface ParserDetails<T extends object> {
  /** What names from elsewhere are called here: said of an unknown key, after "here". */
  readonly words?: Readonly<Record<string, string>>
  /** Faults between options that are right each for itself. */
  readonly between?: (options: T) => readonly Fault[]
}

/**
 * Makes the check of a function's options: defaults filled in, unknown keys refused, all faults told at once.
 *
 * The checks are made when the first options come, so that a parser at module level costs nothing and is left out of a
 * bundle that does not call it, if the call is marked as `@__PURE__`.
 *
 * @param call the function as its users write it, `redisStore()`
 * @returns a function that throws {@link QuotaError} `invalid_options` naming the faults
 */
export function optionsParser<T extends object>(
  call: string,
  checks: () => Checks<T>,
  { words = {}, between }: ParserDetails<T> = {},
): (options: unknown) => T {
  const made = once(() => schemaOf(checks()))
  const known = { ...NAMES_ELSEWHERE, ...words }
  return (options) => {
    const mistaken = inPlaceOfOptions(call, made().checks, options)
    if (mistaken !== undefined) throw refusedOptions(call, [{ path: '', message: mistaken }])
    const { value, faults } = checked(made().schema, options, known)
    const found = faults ?? between?.(value) ?? []
    if (found.length > 0) throw refusedOptions(call, found)
    return value as T
  }
}

/** An `invalid_options` error that names faults. */
export function refusedOptions(call: string, faults: readonly Fault[]): QuotaError {
  return faultyDocument('invalid_options', `options of ${call}`, faults)
}

function schemaOf<T extends object>(checks: Checks<T>): { readonly checks: Checks<T>; readonly schema: Check<T> } {
  return { checks, schema: group(checks) }
}

/** What is said of a value given in place of options; `undefined` for what may be options. */
function inPlaceOfOptions<T extends object>(call: string, checks: Checks<T>, given: unknown): string | undefined {
  if (typeof given === 'object' && given !== null) {
    const keys = Object.keys(given)
    if (keys.some((key) => Object.hasOwn(checks, key))) return undefined
    if (keys.length === 0 && isPlain(given)) return undefined
  }
  const names = Object.keys(checks) as (keyof T & string)[]
  const required = names.filter((name) => !fits(checks[name], undefined))
  const fitting =
    typeof given === 'object' || typeof given === 'function' ? names.filter((name) => belongs(checks[name], given)) : []
  const meant = fitting.find((name) => required.includes(name)) ?? fitting[0]
  if (meant !== undefined) {
    const needed = required.includes(meant) ? required : [...required, meant]
    return `expected an object, got what belongs in "${meant}": write ${written(call, needed)}`
  }
  if (isPlain(given)) return undefined
  return `expected an object, ${written(call, required)}, got ${kindOf(given)}`
}

function written(call: string, names: readonly string[]): string {
  const inside = names.length === 0 ? '{ ... }' : `{ ${names.join(', ')} }`
  return call.endsWith('()') ? `${call.slice(0, -1)}${inside})` : inside
}

/** Whether a value is right for an option, and not only since anything is. */
function belongs(check: Check<unknown>, value: unknown): boolean {
  return fits(check, value) && !fits(check, {})
}

function fits(check: Check<unknown>, value: unknown): boolean {
  return faultsOf(check, value).length === 0
}
