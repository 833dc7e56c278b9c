import type { Policy, Settings, Table, Threshold } from '../../api/documents.ts'
import { type Cell, cellsOf, labelsOf, ownLayers, pathOf } from '../../form/axes.ts'
import { type FaultCode, type Fields, tokensOf, wholeNumber } from '../../form/form.ts'

/** This path holds the names of all plans, separated by spaces. A plan's limits have paths below its name. */
export const PLANS = 'plans'
export const THRESHOLDS = 'thresholds'

/** The path of a shadow limit, or of a whole layer in shadow. */
export function shadowPath(layer: string, label?: string): string {
  return label === undefined ? `shadow.${layer}` : `shadow.${layer}.${label}`
}

export function planCells(policy: Policy): Cell[] {
  const own = ownLayers(policy).map(({ name }) => name)
  return cellsOf(policy).filter(({ layer }) => own.includes(layer))
}

export function planPath(plan: string, cell: Cell): string {
  return pathOf(`${PLANS}.${plan}`, cell)
}

export function plansOf(fields: Fields): string[] {
  return (fields[PLANS] ?? '').split(' ').filter((name) => name !== '')
}

/** Whether a limit is in shadow. */
export function isShadowed(fields: Fields, { layer, window }: Pick<Cell, 'layer' | 'window'>): boolean {
  return fields[shadowPath(layer)] === 'true' || fields[shadowPath(layer, window)] === 'true'
}

/** Shadow limits, plans and thresholds as form fields. */
export function ruleFields(policy: Policy, { shadow, plans, thresholds }: Settings): [string, string][] {
  const shadowed = policy.layers.flatMap((layer): [string, string][] => {
    const limits = shadow[layer.name] ?? []
    const isNamed = (label: string): boolean => limits !== 'all' && limits.includes(label)
    return [
      [shadowPath(layer.name), String(limits === 'all')],
      ...labelsOf(layer).map((label): [string, string] => [shadowPath(layer.name, label), String(isNamed(label))]),
    ]
  })
  const limits = Object.entries(plans).flatMap(([plan, table]) =>
    planCells(policy).map((cell): [string, string] => {
      const tokens = table[cell.layer]?.[cell.category]?.[cell.window]
      return [planPath(plan, cell), tokens === undefined ? '' : String(tokens)]
    }),
  )
  return [...shadowed, [PLANS, Object.keys(plans).join(' ')], ...limits, [THRESHOLDS, thresholdsText(thresholds)]]
}

/** The members that these fields stand for. Don't use them if there are faults. */
export function readRules(policy: Policy, fields: Fields): Pick<Settings, 'shadow' | 'plans' | 'thresholds'> {
  const shadow = policy.layers.flatMap((layer): [string, 'all' | string[]][] => {
    if (fields[shadowPath(layer.name)] === 'true') return [[layer.name, 'all']]
    const labels = labelsOf(layer).filter((label) => fields[shadowPath(layer.name, label)] === 'true')
    return labels.length === 0 ? [] : [[layer.name, labels]]
  })
  const plans = plansOf(fields).map((plan) => [plan, planTable(policy, fields, plan)] as const)
  return {
    shadow: Object.fromEntries(shadow),
    plans: Object.fromEntries(plans),
    thresholds: thresholdsOf(fields[THRESHOLDS] ?? '') ?? null,
  }
}

export function ruleFaults(policy: Policy, fields: Fields): (readonly [string, FaultCode])[] {
  const cells = planCells(policy)
  const paths = plansOf(fields).flatMap((plan) => cells.map((cell) => planPath(plan, cell)))
  const faulty = paths.filter((path) => {
    const text = fields[path] ?? ''
    return text !== '' && tokensOf(text) === undefined
  })
  const isList = thresholdsOf(fields[THRESHOLDS] ?? '') !== undefined
  return [
    ...faulty.map((path) => [path, 'override'] as const),
    ...(isList ? [] : [[THRESHOLDS, 'thresholds'] as const]),
  ]
}

function planTable(policy: Policy, fields: Fields, plan: string): Table {
  const table: Record<string, Record<string, Record<string, number>>> = {}
  for (const cell of planCells(policy)) {
    const tokens = tokensOf(fields[planPath(plan, cell)] ?? '')
    if (tokens === undefined) continue
    table[cell.layer] ??= {}
    const ofLayer = table[cell.layer] ?? {}
    ofLayer[cell.category] = { ...ofLayer[cell.category], [cell.window]: tokens }
  }
  return table
}

/** Formats thresholds as people write them: `80 %, 100`. */
function thresholdsText(thresholds: readonly Threshold[] | null): string {
  const texts = (thresholds ?? []).map((each) =>
    'share' in each ? `${Math.round(each.share * 100)} %` : String(each.left),
  )
  return thresholds?.length === 0 ? NONE : texts.join(', ')
}

/** Stands for an empty list, which means no alerts. */
const NONE = '-'
const MAX_THRESHOLDS = 8

/** @returns `null` for an empty text, `undefined` for an invalid one */
function thresholdsOf(given: string): Threshold[] | null | undefined {
  const text = given.replaceAll(/[，、；]/g, ', ').normalize('NFKC')
  // Ambiguous: one number with groups, or two numbers.
  if (/\d,\d{3}(?!\d)/.test(text)) return undefined
  const entries = text
    .split(/[,;]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
  if (entries.length === 0) return null
  if (entries.length === 1 && entries[0] === NONE) return []
  const thresholds = entries.map((entry): Threshold | undefined => {
    const percent = wholeNumber(/^(\d{1,3}) ?%$/.exec(entry)?.[1] ?? '')
    if (percent !== undefined) return percent >= 1 && percent <= 100 ? { share: percent / 100 } : undefined
    const left = tokensOf(entry)
    return left === undefined ? undefined : { left }
  })
  const isWhole = thresholds.every((each) => each !== undefined) && thresholds.length <= MAX_THRESHOLDS
  return isWhole ? (thresholds as Threshold[]) : undefined
}
