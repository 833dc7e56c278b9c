import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createQuota } from '@scoregw/quota'
import { registerQuotaMetrics } from '@scoregw/quota/prometheus'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { readPage, root } from './markdown.ts'

interface Described {
  readonly type: string
  readonly labels: readonly string[]
}

/** The metrics of an engine of the score gateway's policy, by name. */
async function registered(): Promise<Map<string, Described>> {
  const registry = new Registry()
  const quota = createQuota({ policy: scoreGatewayPolicy() })
  registerQuotaMetrics({ quota, registry })
  const metrics = await registry.getMetricsAsJSON()
  await quota.close()
  const labelsOf = (values: (typeof metrics)[number]['values']): string[] =>
    [...new Set(values.flatMap(({ labels }) => Object.keys(labels)))].filter((label) => label !== 'le')
  return new Map(metrics.map(({ name, type, values }) => [name, { type: String(type), labels: labelsOf(values) }]))
}

it('the metrics page lists every metric with its type and labels and no others', async () => {
  const rows = readPage('docs/guide/metrics.md').matchAll(
    /^\| `(?<name>\w+)` +\| (?<type>\w+) +\| (?<labels>[^|]*)\|/gm,
  )
  const documented = [...rows].map(({ groups = {} }): [string, Described] => {
    const labels = [...(groups.labels ?? '').matchAll(/`(\w+)`/g)].map(([, label = '']) => label)
    return [groups.name ?? '', { type: groups.type ?? '', labels }]
  })
  expect(documented).toEqual([...(await registered())])
})

it('the reference of exports names every metric and no other', async () => {
  const list = readPage('docs/reference/prometheus.md').split('\n- ').slice(1).join()
  const names = [...list.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)
  expect(names.map((name) => `scoregw_quota_${name}`).sort()).toEqual([...(await registered()).keys()].sort())
})

/** What a text names: metrics, and labels in braces or behind `by`. */
function namedIn(expression: string): { readonly metrics: readonly string[]; readonly labels: readonly string[] } {
  const metrics = [...expression.matchAll(/\bscoregw_quota_\w+/g)].map(([name]) => name)
  const selectors = [...expression.matchAll(/\{([^}]*)\}/g)].flatMap(([, text = '']) => text.split(','))
  const groups = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, text = '']) => text.split(','))
  const labels = [...selectors.map((each) => each.split(/[=!~]/)[0] ?? ''), ...groups].map((label) => label.trim())
  return { metrics, labels: labels.filter((label) => label !== '') }
}

/** The faults of queries: names that no metric has, labels that no metric named in the query has. */
async function faultsOf(queries: readonly string[]): Promise<string[]> {
  const known = await registered()
  return queries.flatMap((query) => {
    const { metrics, labels } = namedIn(query)
    const bases = metrics.map((name) => (known.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, '')))
    const unknown = bases.filter((name) => !known.has(name))
    const allowed = ['job', 'instance', 'le', ...bases.flatMap((name) => known.get(name)?.labels ?? [])]
    return [...unknown, ...labels.filter((label) => !allowed.includes(label))].map((name) => `${name}: ${query}`)
  })
}

function dashboard(): { readonly text: string; readonly queries: readonly string[] } {
  const text = readFileSync(join(root, 'examples/gateway/dashboards/quota.json'), 'utf8')
  const { panels } = JSON.parse(text) as { panels: { targets: { expr: string; legendFormat: string }[] }[] }
  return { text, queries: panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)) }
}

it('the dashboard uses every metric and only existing labels', async () => {
  const { text, queries } = dashboard()
  expect(queries.length).toBeGreaterThan(10)
  expect(await faultsOf([...queries, ...(text.match(/label_values\([^)]*\)/g) ?? [])])).toEqual([])
  const unseen = [...(await registered()).keys()].filter((name) => !queries.some((query) => query.includes(name)))
  expect(unseen).toEqual([])
})

it('the queries on the metrics page use existing metrics and labels', async () => {
  const block = /^```promql\n(.*?)^```$/ms.exec(readPage('docs/guide/metrics.md'))?.[1] ?? ''
  const queries = block.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  expect(queries.length).toBeGreaterThan(3)
  expect(await faultsOf(queries)).toEqual([])
})
