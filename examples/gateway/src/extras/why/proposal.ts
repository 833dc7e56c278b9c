import type { Settings, SubjectSettings } from '@scoregw/quota'
import type { GatewayPolicy, OperationName } from '../../quota/policy.ts'

/** What an administrator thinks of changing. */
export interface Proposal {
  readonly mode?: Settings['mode'] | undefined
  /** Another limit of the user's own, in the category of the operation. */
  readonly limit?: { readonly layer: string; readonly window: string; readonly tokens: number } | undefined
  /** A limit that would refuse nobody. */
  readonly shadow?: { readonly layer: string; readonly window: string } | undefined
}

/** What decisions about one user depend on. */
export interface Rules {
  readonly settings: Settings
  /** By layer of users' own. */
  readonly subjects: Readonly<Record<string, SubjectSettings>>
}

/** The rules as they would be. */
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
    // What has ended must not come back with the end.
    const isOver = subject.until.overrides !== null && subject.until.overrides <= now
    const overrides = isOver ? {} : subject.overrides
    const own = { ...overrides, [category]: { ...overrides[category], [limit.window]: limit.tokens } }
    const until = { ...subject.until, overrides: isOver ? null : subject.until.overrides }
    subjects = { ...subjects, [limit.layer]: { ...subject, overrides: own, until } }
  }
  return { settings, subjects }
}
