import { QuotaError } from '../../errors/quota-error.ts'
import type { Policy } from '../../policy/policy.ts'
import type { QuotaStore } from '../../store/quota-store.ts'
import type { Calendar } from '../../windows/calendar.ts'

/**
 * Whether a store can what a policy asks for.
 *
 * @throws {QuotaError} `calendar_missing`, `store_unsupported`
 */
export function checkAbilities(policy: Policy, { can = {} }: QuotaStore, calendar: Calendar | undefined): void {
  const { windows, concurrency, operations } = policy
  const ofCalendar = windows.find(({ every }) => every !== undefined)
  if (ofCalendar !== undefined && calendar === undefined) {
    const message = `window "${ofCalendar.label}" is of the calendar: pass calendar: luxonCalendar() of @scoregw/quota/calendar`
    throw new QuotaError('calendar_missing', message)
  }
  if (ofCalendar !== undefined && can.calendar !== true) {
    throw unsupported(`windows of the calendar, such as "${ofCalendar.label}"`)
  }
  const fitting = Object.keys(operations).find((name) => operations[name]!.overrun === 'fit')
  if (fitting !== undefined && can.fit !== true) throw unsupported(`overrun: 'fit', as of "${fitting}"`)
  if (concurrency === undefined) return
  if (can.concurrency === undefined || can.holds !== true) throw unsupported(`concurrency ("${concurrency.label}")`)
  const shared = can.concurrency === 'all' ? undefined : sharedWith(policy, concurrency.label)
  if (shared !== undefined) throw unsupported(`concurrency ("${concurrency.label}") in the shared layer "${shared}"`)
}

/** A shared layer in which a label has a limit. */
function sharedWith({ layers, base }: Policy, label: string): string | undefined {
  const hasLabel = (layer: string): boolean =>
    Object.values(base[layer] ?? {}).some((limits) => Object.hasOwn(limits, label))
  return layers.find(({ name, shared }) => shared && hasLabel(name))?.name
}

function unsupported(what: string): QuotaError {
  return new QuotaError('store_unsupported', `this store cannot keep ${what}; see what each store can in its page`)
}
