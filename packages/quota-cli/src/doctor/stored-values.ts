import type { HeldLimitStatus, Policy, Quota } from '@scoregw/quota'
import { amountText, unitOf } from '../amounts.ts'
import { several } from '../text.ts'
import { isHashed, subjectWith } from '../top/usage.ts'
import { ok, type ServerFinding } from './finding.ts'
import type { Owner } from './stored-keys.ts'

/** How many subjects are shown. */
const MOST = 10

/** The stored numbers: those of the settings that differ from the policy's, and each subject's by limit. */
export async function storedValues(quota: Quota, owners: readonly Owner[]): Promise<ServerFinding[]> {
  const readable = owners.filter(({ key }) => !isHashed(key))
  const shown = readable.slice(0, MOST)
  const subjects: ServerFinding[] = []
  for (const owner of shown) subjects.push(await ofSubject(quota, owner))
  const rest = owners.length - shown.length
  const others = rest === 0 ? [] : [ok('subjects', `${several(rest, 'subject')} more; top shows the most used`)]
  return [await ofSettings(quota), ...subjects, ...others]
}

async function ofSettings({ policy, settings }: Quota): Promise<ServerFinding> {
  const { mode, version, limits } = await settings.get()
  if (version === 0) return ok('settings', "none stored: the policy's numbers apply")
  const changed = policy.limits.flatMap(({ name, unit, limit }) => {
    const stored = limits[name]
    return stored === undefined || JSON.stringify(stored) === JSON.stringify(limit)
      ? []
      : [`${name} ${numberText(policy, unit, stored)} instead of ${numberText(policy, unit, limit)}`]
  })
  return ok('settings', [`version ${version}, mode ${mode}`, ...changed].join('; '))
}

async function ofSubject(quota: Quota, { layer, key }: Owner): Promise<ServerFinding> {
  const { limits } = await quota.status(subjectWith(quota.policy, layer, key))
  const { plan, blocked } = await quota.subjects.get({ [layer]: key })
  const own = Object.values(limits).flatMap((limit) =>
    limit === undefined || limit.by !== layer ? [] : [limitText(quota.policy, limit)],
  )
  const others = [plan === null ? [] : `plan ${plan}`, blocked ? 'blocked' : []].flat()
  return ok('subject', `${layer} ${key}: ${[...own, ...others].join(', ')}`)
}

/** `perMinute 12 of 50 (subject)`. The base needs no word. */
function limitText(policy: Policy, { name, unit, used, limit, from }: HeldLimitStatus): string {
  const of = `${name} ${amountText(unitOf(policy, unit), used)} of ${numberText(policy, unit, limit)}`
  return from === 'base' ? of : `${of} (${from})`
}

function numberText(policy: Policy, unit: string, number: unknown): string {
  return typeof number === 'number' ? amountText(unitOf(policy, unit), number) : JSON.stringify(number)
}
