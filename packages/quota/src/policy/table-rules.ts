import * as v from 'valibot'
import { type Check, tableEach } from '../options/checks.ts'
import { listed, noSuchName } from '../options/names.ts'
import { hasLimit, limitLabels, unitOfLabel } from './cells.ts'
import { eachKey, limitCheck, wrongPlan } from './names.ts'
import type { LimitTable, PlanTable, Policy } from './policy.ts'

/** Most plans of a policy, and of settings. */
const MAX_PLANS = 100

type Limited = Pick<Policy, 'units' | 'windows' | 'concurrency' | 'categories' | 'layers' | 'base'>

/** Checks a whole table of limits: one for each that the policy's base has. */
export function tableCheck(policy: Limited): Check<LimitTable> {
  const layers = policy.layers.map(({ name }) => name)
  return eachKey(layers, (layer) =>
    eachKey(policy.categories, (category) =>
      eachKey(
        limitLabels(policy).filter((label) => hasLimit(policy, layer, category, label)),
        (label) => limitCheck(unitOfLabel(policy, label)),
      ),
    ),
  )
}

/** Checks the limits of plans: as many as one likes of those that own layers have. */
export function plansCheck(policy: Limited): Check<Readonly<Record<string, PlanTable>>> {
  const plan = tableEach(
    (layer) =>
      wrongLayer(policy, layer) ??
      tableEach(
        (category) =>
          wrongCategory(policy, category) ??
          tableEach(
            (label) => wrongLabel(policy, layer, category, label) ?? limitCheck(unitOfLabel(policy, label)),
            'an object of limits by label',
          ),
        'an object of limits by category and label',
      ),
    'an object of limits by layer, category and label',
  )
  const plans = tableEach((name) => wrongPlan(name) ?? plan, 'an object of limits by plan, layer, category and label')
  const count = v.rawCheck<Readonly<Record<string, PlanTable>>>(({ dataset: { typed, value }, addIssue }) => {
    if (typed && Object.keys(value).length > MAX_PLANS) addIssue({ message: `expected at most ${MAX_PLANS} plans` })
  })
  return v.pipe(plans, count)
}

function wrongLayer({ layers }: Limited, name: string): string | undefined {
  const own = layers.filter(({ shared }) => !shared).map((layer) => layer.name)
  if (own.includes(name)) return undefined
  return layers.some((layer) => layer.name === name)
    ? `a shared layer: plans are for layers of each subject's own: ${listed(own)}`
    : `not a layer: ${noSuchName(name, own, 'plans are for')}`
}

function wrongCategory({ categories }: Limited, name: string): string | undefined {
  return categories.includes(name) ? undefined : `not a category: ${noSuchName(name, categories, 'the policy has')}`
}

function wrongLabel(policy: Limited, layer: string, category: string, label: string): string | undefined {
  if (hasLimit(policy, layer, category, label)) return undefined
  const labels = limitLabels(policy).filter((each) => hasLimit(policy, layer, category, each))
  return limitLabels(policy).includes(label)
    ? `the base has no such limit for ${layer} and ${category}`
    : `not a limit: ${noSuchName(label, labels, 'there are')}`
}
