import { createQuota, type Mode, type Policy } from '@scoregw/quota'
import { luxonCalendar } from '@scoregw/quota/calendar'
import { counted } from '../text.ts'
import { type Finding, note, warning } from './finding.ts'
import { idleLimits } from './idle-limits.ts'

/** Finds valid entries of a policy that are probably mistakes. */
export async function lint(policy: Policy): Promise<Finding[]> {
  return [
    ...(await impossible(policy)),
    ...policy.layers.flatMap(({ name }) => idleLimits(policy, `base.${name}`, policy.base[name] ?? {})),
    ...idleInPlans(policy),
    ...belowShared(policy),
    ...unused(policy),
  ]
}

const STRICTER: readonly Mode[] = ['normal', 'conservative']

/** Operations that cost more than a limit, as the settings' own check finds them, in its stricter mode if necessary. */
async function impossible(policy: Policy): Promise<Finding[]> {
  const quota = createQuota({ policy, calendar: luxonCalendar() })
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

/** Limits missing from a plan come from the base, so only the plan's own limits are reported. */
function idleInPlans(policy: Policy): Finding[] {
  return Object.entries(policy.plans ?? {}).flatMap(([plan, layers]) =>
    Object.entries(layers).flatMap(([layer, categories]) => {
      const effective = Object.fromEntries(
        policy.categories.map((category) => [category, { ...policy.base[layer]?.[category], ...categories[category] }]),
      )
      const path = `plans.${plan}.${layer}`
      return [
        ...idleLimits(policy, path, effective).filter((finding) =>
          isNamed(finding.path.slice(path.length + 1), categories),
        ),
        ...likeBase(policy, plan, layer),
      ]
    }),
  )
}

function isNamed(place: string, categories: Readonly<Record<string, Readonly<Record<string, unknown>>>>): boolean {
  const [category = '', label = ''] = place.split('.')
  return categories[category]?.[label] !== undefined
}

function likeBase(policy: Policy, plan: string, layer: string): Finding[] {
  return Object.entries(policy.plans?.[plan]?.[layer] ?? {}).flatMap(([category, limits]) =>
    Object.entries(limits).flatMap(([label, limit]): Finding[] =>
      limit === policy.base[layer]?.[category]?.[label]
        ? [
            note(
              'plan_like_base',
              `plans.${plan}.${layer}.${category}.${label}`,
              'repeats the base limit, and will not follow it when that changes',
              'leave it out',
            ),
          ]
        : [],
    ),
  )
}

/** Finds limits of one subject that are not below the limit that all subjects share. */
function belowShared({ layers, categories, windows, base }: Policy): Finding[] {
  const own = layers.filter(({ shared }) => !shared)
  const shared = layers.filter((layer) => layer.shared)
  return own.flatMap((mine) =>
    categories.flatMap((category) =>
      windows.flatMap(({ label }): Finding[] => {
        const limit = base[mine.name]?.[category]?.[label]
        const above = shared.find(({ name }) => {
          const all = base[name]?.[category]?.[label]
          return typeof limit === 'number' && typeof all === 'number' && limit >= all
        })
        if (above === undefined || typeof limit !== 'number') return []
        const all = Number(base[above.name]?.[category]?.[label])
        return [
          warning(
            'above_shared',
            `base.${mine.name}.${category}.${label}`,
            `${counted(limit)} for each is not below the ${counted(all)} that "${above.name}" has for all together: one can spend it all`,
            `lower it, or raise base.${above.name}.${category}.${label}`,
          ),
        ]
      }),
    ),
  )
}

/** A price in several units has one amount per unit. */
function isNothing(cost: unknown): boolean {
  const amounts = typeof cost === 'object' && cost !== null ? Object.values(cost) : [cost]
  return amounts.every((amount) => amount === 0 || amount === undefined)
}

function unused({ categories, layers, windows, operations, base }: Policy): Finding[] {
  const named = Object.entries(operations)
  return categories.flatMap((category): Finding[] => {
    const mine = named.filter(([, operation]) => operation.category === category)
    if (mine.length === 0) {
      const message = `no operation is of "${category}": its limits never count`
      const mend = 'give an operation this category, or take it out'
      return [warning('unused_category', `categories.${categories.indexOf(category)}`, message, mend)]
    }
    const isLimited = layers.some(({ name }) =>
      windows.some(({ label }) => base[name]?.[category]?.[label] !== 'unlimited'),
    )
    const free = mine.filter(([, { cost }]) => isNothing(cost))
    const mend = 'give it a limit in some layer, if it should have one'
    const message = 'costs nothing: it is never counted and never refused'
    return [
      ...(isLimited ? [] : [note('unlimited', `base.*.${category}`, `nothing limits "${category}"`, mend)]),
      ...free.map(([name]) => note('free', `operations.${name}.cost`, message, 'a price of 1 or more counts it')),
    ]
  })
}
