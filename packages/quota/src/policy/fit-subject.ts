import { shown } from '../errors/shown.ts'
import { isObject } from '../options/checks.ts'
import type { OwnAnchor } from '../windows/calendar.ts'
import { fitAnchor } from './anchors.ts'
import type { Limit, Policy } from './policy.ts'
import { initialSubjectSettings, type SubjectSettings } from './settings.ts'
import { Faults, type Fitted, mapValues, member, strangers } from './stored.ts'
import { isInstant, isLimit } from './values.ts'

/**
 * As `fitSettings`, for one subject's document: missing or faulty members follow the default. A plan is taken by its
 * name, whether there is one or not: settings that come later may have it.
 *
 * @param layer whose settings of the subject they are
 */
export function fitSubjectSettings(policy: Policy, layer: string, document: unknown): Fitted<SubjectSettings> {
  const faults = new Faults()
  const { version: _, revision: __, ...own } = initialSubjectSettings(policy, layer)
  if (!isObject(document)) {
    faults.add('', 'expected an object: the defaults apply')
    return { settings: own, faults: faults.list }
  }
  strangers(document, own, '', faults)
  return {
    settings: {
      overrides: fitOverrides(own.overrides, member(document, 'overrides'), faults),
      bypass: fitBypass(policy, member(document, 'bypass'), faults),
      plan: fitPlanName(member(document, 'plan'), faults),
      until: fitUntil(own.until, member(document, 'until'), faults),
      anchor: fitOwnAnchor(member(document, 'anchor'), faults),
    },
    faults: faults.list,
  }
}

function fitOverrides(
  own: SubjectSettings['overrides'],
  stored: unknown,
  faults: Faults,
): SubjectSettings['overrides'] {
  const fitted = mapValues(own, (limits, category) => {
    const ofCategory = member(stored, category)
    strangers(ofCategory, limits, `overrides.${category}`, faults)
    return mapValues(limits, (_none, label): Limit | null => {
      const value = member(ofCategory, label) ?? null
      if (value === null || isLimit(value)) return value
      faults.add(`overrides.${category}.${label}`, 'not a limit: the default applies')
      return null
    })
  })
  strangers(stored, own, 'overrides', faults)
  return fitted
}

function fitPlanName(plan: unknown, faults: Faults): string | null {
  if (plan === undefined || plan === null) return null
  if (typeof plan === 'string') return plan
  faults.add('plan', 'not a name: none')
  return null
}

function fitUntil(own: SubjectSettings['until'], stored: unknown, faults: Faults): SubjectSettings['until'] {
  strangers(stored, own, 'until', faults)
  const fitInstant = (part: keyof SubjectSettings['until']): number | null => {
    const value = member(stored, part) ?? null
    if (value === null || isInstant(value)) return value
    faults.add(`until.${part}`, 'not an instant: without an end')
    return null
  }
  return { overrides: fitInstant('overrides'), plan: fitInstant('plan') }
}

function fitOwnAnchor(stored: unknown, faults: Faults): OwnAnchor | null {
  if (stored === undefined || stored === null) return null
  const anchor = fitAnchor(stored)
  if (anchor === undefined) faults.add('anchor', "not an anchor: periods begin at the calendar's beginning")
  return anchor ?? null
}

function fitBypass(policy: Policy, bypass: unknown, faults: Faults): string[] {
  if (bypass === undefined) return []
  if (!Array.isArray(bypass)) {
    faults.add('bypass', 'expected a list of shared layers: none is bypassed')
    return []
  }
  const unknown = bypass.filter((name) => !isSharedLayer(policy, name))
  for (const name of unknown) faults.add('bypass', `no shared layer ${shown(name)}: not in force`)
  return [...new Set(bypass.filter((name) => isSharedLayer(policy, name)))] as string[]
}

function isSharedLayer(policy: Policy, name: unknown): boolean {
  return policy.layers.some((layer) => layer.shared && layer.name === name)
}
