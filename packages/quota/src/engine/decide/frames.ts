import type { DecisionFrame } from '../../decision/decide.ts'
import { hasLimit, limitLabels, policyCells } from '../../policy/cells.ts'
import type { Policy } from '../../policy/policy.ts'
import { Layout } from '../../windows/layout.ts'
import type { LivePeriods } from '../settings/live-periods.ts'

/** A frame for each category, shared by all its decisions. */
export function decisionFrames(policy: Policy, periods: LivePeriods): readonly DecisionFrame[] {
  const { layers, categories } = policy
  const layout = new Layout(policyCells(policy))
  return categories.map((category) => ({
    policy,
    layout,
    layers,
    category,
    periodsAt: (quotas, instant) => periods.at(quotas, instant),
    shownAs: layers.map(({ name }) => {
      const labels = limitLabels(policy).filter((label) => hasLimit(policy, name, category, label))
      return labels.map((label) => layout.cells.findIndex((cell) => cell.label === label))
    }),
  }))
}
