import type { AuditAction } from '../audit/audit-log.ts'
import { instantText } from '../http/instant.ts'
import { bypassMember } from './layer-members.ts'

type Document = Readonly<Record<string, unknown>>

/**
 * A document of the audit trail: quotas are stored in the library's form, and shown in the one in which administrators send
 * them.
 *
 * @param shared the layers that are shared now
 */
export function shownInAudit(shared: readonly string[]): (action: AuditAction, stored: unknown) => Document {
  return (action, stored) => {
    if (action === 'settings.change') return shownSettings(stored)
    if (action === 'user-quota.change') return shownUserQuota(stored, shared)
    return stored as Document
  }
}

/**
 * Settings as they were stored once, by this policy or another, in the form in which administrators have them. They are
 * not validated: a document that could not be sent is shown as it is.
 */
function shownSettings(stored: unknown): Document {
  const { layers, ...rest } = membersOf(stored)
  const { prices, ...others } = rest
  return { ...others, ...membersOf(layers), ...(prices === undefined ? {} : { prices }) }
}

/**
 * The same of one user's settings.
 *
 * @param shared the layers that everybody shares now; others may be named in the document
 */
function shownUserQuota(stored: unknown, shared: readonly string[]): Document {
  const { bypass, until, ...rest } = membersOf(stored)
  const bypassed = Array.isArray(bypass) ? bypass.map(String) : []
  const layers = [...new Set([...shared, ...bypassed])]
  const ends = until === undefined ? {} : { until: shownEnds(until) }
  return {
    ...rest,
    ...ends,
    ...Object.fromEntries(layers.map((layer) => [bypassMember(layer), bypassed.includes(layer)])),
  }
}

function membersOf(stored: unknown): Document {
  if (typeof stored === 'object' && stored !== null && !Array.isArray(stored)) return { ...stored }
  return stored === undefined ? {} : { document: stored }
}

/** Instants are stored as numbers, and shown as text. */
function shownEnds(until: unknown): unknown {
  if (typeof until !== 'object' || until === null) return until
  const isInstant = (value: unknown): value is number =>
    Number.isSafeInteger(value) && Math.abs(Number(value)) <= 8.64e15
  return Object.fromEntries(
    Object.entries(until).map(([part, value]) => [part, isInstant(value) ? instantText(value) : value]),
  )
}
