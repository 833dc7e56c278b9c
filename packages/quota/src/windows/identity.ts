import type { WindowDefinition } from './window.ts'

/**
 * What tells one limit from another wherever counters are kept: kind, label and length. Everything else that a policy
 * says of it (texts, order, the number of tokens) may change, and the counter goes on; another label or length is
 * another limit and begins unused.
 */
export function windowIdentity({ label, lengthMs }: WindowDefinition): string {
  return `rolling ${label} ${lengthMs}`
}

/** A window from its identity; `undefined` for text that is none that this version knows. */
export function windowOfIdentity(identity: string): WindowDefinition | undefined {
  const [kind, label, length] = identity.split(' ')
  const lengthMs = Number(length)
  return kind === 'rolling' && label && Number.isSafeInteger(lengthMs) && lengthMs > 0 ? { label, lengthMs } : undefined
}

/** The one order in which windows stand in a row, whatever the order in a policy: by length, then by label. */
export function inRowOrder<W extends WindowDefinition>(windows: readonly W[]): readonly W[] {
  return [...windows].sort((a, b) => a.lengthMs - b.lengthMs || (a.label < b.label ? -1 : 1))
}

/** FNV-1a over UTF-16 units, an unsigned 32-bit number: short, the same everywhere, and no secret. */
export function hash32(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
