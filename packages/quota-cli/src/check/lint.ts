import { createQuota, type Policy } from '@scoregw/quota'
import { luxonCalendar } from '@scoregw/quota/calendar'
import type { LimitNumber, LimitRule, Mode } from '@scoregw/quota/internal'
import { amountText, unitOf } from '../amounts.ts'
import { type Finding, note, warning } from './finding.ts'
import { idleLimits } from './idle-limits.ts'

/** Finds valid entries of a policy that are probably mistakes. */
export async function lint(policy: Policy): Promise<Finding[]> {
  const text = (rule: LimitRule, amount: number): string => amountText(unitOf(policy, rule.unit), amount)
  return [
    ...(await impossible(policy)),
    ...idleLimits(policy, 'limits', ({ limit }) => numberOf(limit), text),
    ...Object.entries(policy.plans).flatMap(([plan, numbers]) => {
      const inPlan = (rule: LimitRule) => numberOf(numbers[rule.name] ?? rule.limit)
      const path = `plans.${plan}`
      // Limits missing from a plan come from the base, so only the plan's own are reported.
      const isOwn = (finding: Finding): boolean => Object.hasOwn(numbers, finding.path.slice(path.length + 1))
      return [...idleLimits(policy, path, inPlan, text).filter(isOwn), ...likeBase(policy, plan)]
    }),
    ...belowShared(policy, text),
    ...unlimited(policy),
  ]
}

const STRICTER: readonly Mode[] = ['normal', 'conservative']

/** Operations that cost more than a limit, as the settings' own check finds them, in its stricter mode if necessary. */
async function impossible(policy: Policy): Promise<Finding[]> {
  const quota = createQuota({ policy, calendar: luxonCalendar(), logger: false })
  const found = new Map<string, Finding>()
  try {
    for (const mode of STRICTER) {
      const { warnings } = await quota.settings.update({ mode })
      for (const { path, message } of warnings) {
        if (found.has(path)) continue
        const [level, text] = mode === 'normal' ? [warning, message] : [note, `in mode ${mode} ${message}`]
        found.set(path, level('never_admitted', path, text, 'raise the limit, or lower the price'))
      }
    }
  } finally {
    await quota.close()
  }
  return [...found.values()]
}

function numberOf(number: LimitNumber): number | undefined {
  const limit = typeof number === 'object' ? number.limit : number
  return limit === 'unlimited' ? undefined : limit
}

function likeBase({ plans, limits }: Policy, plan: string): Finding[] {
  const message = 'repeats the number of the limit, and will not follow it when that changes'
  return limits.flatMap(({ name, limit }): Finding[] =>
    plans[plan]?.[name] === limit ? [note('plan_like_base', `plans.${plan}.${name}`, message, 'leave it out')] : [],
  )
}

/** Finds limits of one subject that are not below the limit that all subjects share. */
function belowShared(
  { limits, layers, operations }: Policy,
  text: (rule: LimitRule, amount: number) => string,
): Finding[] {
  const isShared = ({ layer }: LimitRule): boolean => layers[layer]?.shared === true
  const counted = ({ operations: only }: LimitRule): readonly string[] => only ?? Object.keys(operations)
  return limits.flatMap((mine): Finding[] => {
    const each = numberOf(mine.limit)
    if (isShared(mine) || each === undefined || mine.window === undefined) return []
    const above = limits.find(
      (all) =>
        isShared(all) &&
        all.unit === mine.unit &&
        timeOf(all) === timeOf(mine) &&
        counted(all).some((name) => counted(mine).includes(name)) &&
        each >= (numberOf(all.limit) ?? Number.POSITIVE_INFINITY),
    )
    if (above === undefined) return []
    const all = text(above, numberOf(above.limit) ?? 0)
    return [
      warning(
        'above_shared',
        `limits.${mine.name}`,
        `${text(mine, each)} per subject is not below the ${all} that "${above.name}" gives everyone: one subject can spend it all`,
        `lower it, or raise limits.${above.name}`,
      ),
    ]
  })
}

/** The time of a limit, without its name and burst. */
function timeOf({ window }: LimitRule): string {
  return JSON.stringify({ ...window, label: undefined, burst: undefined })
}

/** Finds operations whose limits are all unlimited, in plans as well. */
function unlimited({ limits, operations, plans }: Policy): Finding[] {
  const isOpen = ({ name, limit }: LimitRule): boolean =>
    [limit, ...Object.values(plans).map((numbers) => numbers[name])].every(
      (number) => number === undefined || numberOf(number) === undefined,
    )
  return Object.keys(operations).flatMap((name): Finding[] => {
    const counting = limits.filter(({ operations: only }) => only === undefined || only.includes(name))
    if (counting.length === 0 || !counting.every(isOpen)) return []
    const mend = 'give one of its limits a number, if it should have one'
    return [note('unlimited', `operations.${name}`, 'every limit that counts it is "unlimited"', mend)]
  })
}
