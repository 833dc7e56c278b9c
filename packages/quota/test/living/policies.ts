import fc from 'fast-check'
import type { LimitTable, Policy } from '../../src/index.ts'
import type { LayerDefinition } from '../../src/policy/policy.ts'
import type { WindowDefinition } from '../../src/windows/kinds.ts'

/** A policy and what may become of it. Limits are by name, so that an edit keeps those that it does not touch. */
interface Draft {
  readonly windows: readonly WindowDefinition[]
  readonly categories: readonly string[]
  readonly layers: readonly LayerDefinition[]
  readonly limits: Readonly<Record<string, number>>
}

const FIRST: Draft = {
  windows: [
    { label: 'short', lengthMs: 10_000 },
    { label: 'mid', lengthMs: 60_000 },
    { label: 'long', lengthMs: 3_600_000 },
  ],
  categories: ['x', 'y'],
  layers: [
    { name: 'personal', scope: 'Personal', shared: false },
    { name: 'site', scope: 'Site', shared: true },
  ],
  limits: {},
}

type Edit = (draft: Draft) => Draft

const TEAM = { name: 'team', scope: 'Team', shared: false }
const ORG = { name: 'org', scope: 'Org', shared: true }
const LENGTHS = [10_000, 20_000, 60_000, 90_000, 3_600_000]

function withWindow(draft: Draft, window: WindowDefinition): Draft {
  const others = draft.windows.filter(({ label }) => label !== window.label)
  return { ...draft, windows: [...others, window] }
}

function withLayer(draft: Draft, layer: LayerDefinition, isFirst: boolean): Draft {
  if (draft.layers.some(({ name }) => name === layer.name)) return draft
  return { ...draft, layers: isFirst ? [layer, ...draft.layers] : [...draft.layers, layer] }
}

const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc
    .constantFrom('a', 'zz', 'new')
    .chain((label) =>
      fc.constantFrom(...LENGTHS).map((lengthMs) => (draft: Draft) => withWindow(draft, { label, lengthMs })),
    ),
  fc.nat(5).map((at) => (draft: Draft) => {
    if (draft.windows.length === 1) return draft
    return { ...draft, windows: draft.windows.filter((_, index) => index !== at % draft.windows.length) }
  }),
  fc.constant((draft: Draft) => ({ ...draft, windows: [...draft.windows].reverse() })),
  fc.tuple(fc.nat(5), fc.constantFrom(...LENGTHS)).map(([at, lengthMs]) => (draft: Draft) => {
    const { label } = draft.windows[at % draft.windows.length]!
    return withWindow(draft, { label, lengthMs })
  }),
  fc.constant((draft: Draft) => withLayer(draft, TEAM, false)),
  fc.boolean().map((isFirst) => (draft: Draft) => withLayer(draft, ORG, isFirst)),
  fc.constant((draft: Draft) => ({
    ...draft,
    categories: ['new', ...draft.categories.filter((name) => name !== 'new')],
  })),
  fc.constant((draft: Draft) => ({ ...draft, categories: [...draft.categories].reverse() })),
  fc.string({ minLength: 1, maxLength: 5 }).map((scope) => (draft: Draft) => ({
    ...draft,
    layers: draft.layers.map((layer) => ({ ...layer, scope })),
  })),
  fc.tuple(fc.constantFrom('personal', 'site', 'team'), fc.nat(20)).map(([layer, limit]) => (draft: Draft) => ({
    ...draft,
    limits: { ...draft.limits, [layer]: limit },
  })),
)

/** A policy, an edited one, and the first again, as it is rolled back. */
export const policies: fc.Arbitrary<readonly Policy[]> = fc
  .tuple(fc.array(edit, { maxLength: 3 }), fc.array(edit, { minLength: 1, maxLength: 4 }))
  .map(([before, after]) => {
    const first = before.reduce<Draft>((draft, change) => change(draft), FIRST)
    const second = after.reduce<Draft>((draft, change) => change(draft), first)
    return [policyOf(first), policyOf(second), policyOf(first)]
  })

function policyOf({ windows, categories, layers, limits }: Draft): Policy {
  const base: LimitTable = Object.fromEntries(
    layers.map(({ name, shared }) => {
      const limit = limits[name] ?? (shared ? 20 : 12)
      const byLabel = Object.fromEntries(
        windows.map(({ label, lengthMs = 0 }) => [label, limit + (lengthMs > 60_000 ? 9 : 0)]),
      )
      return [name, Object.fromEntries(categories.map((category) => [category, byLabel]))]
    }),
  )
  const operations = Object.fromEntries(categories.map((category) => [category, { category, cost: 2 }]))
  return { windows, categories, layers, operations, base }
}
