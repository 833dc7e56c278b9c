import type { Settings, SubjectSettings } from '@scoregw/quota'
import type { GatewayPolicy, OperationName } from '../../quota/policy.ts'

/** A change that an administrator considers. */
export interface Proposal {
  readonly mode?: Settings['mode'] | undefined
  /** A different limit for the user, in the operation's category. */
  readonly limit?: { readonly layer: string; readonly window: string; readonly tokens: number } | undefined
  /** A limit to shadow, so that it refuses nothing. */
  readonly shadow?: { readonly layer: string; readonly window: string } | undefined
}

/** The inputs of decisions about one user. */
export interface Rules {
  readonly settings: Settings
  /** The user's settings by layer. */
  readonly subjects: Readonly<Record<string, SubjectSettings>>
}

/** Returns the rules with the proposed change. */
export function proposed(
  policy: GatewayPolicy,
  rules: Rules,
  operation: OperationName,
  { mode, limit, shadow }: Proposal,
  now: number,
): Rules {
  const { category } = policy.operations[operation]
  let { settings, subjects } = rules
  if (mode !== undefined) settings = { ...settings, mode }
  if (shadow !== undefined) {
    const { layer, window } = shadow
    const before = settings.shadow[layer] ?? []
    const labels = before === 'all' ? before : [...new Set([...before, window])]
    settings = { ...settings, shadow: { ...settings.shadow, [layer]: labels } }
  }
  const subject = limit === undefined ? undefined : subjects[limit.layer]
  if (limit !== undefined && subject !== undefined) {
    // Overrides that have ended must not return when `until` is removed.
    const isOver = subject.until.overrides !== null && subject.until.overrides <= now
    const overrides = isOver ? {} : subject.overrides
    const own = { ...overrides, [category]: { ...overrides[category], [limit.window]: limit.tokens } }
    const until = { ...subject.until, overrides: isOver ? null : subject.until.overrides }
    subjects = { ...subjects, [limit.layer]: { ...subject, overrides: own, until } }
  }
  return { settings, subjects }
}
