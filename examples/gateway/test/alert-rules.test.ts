import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram, slowTests } from '@scoregw/server-kit'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { testGateway } from './support/gateway.ts'

const FOLDER = join(import.meta.dirname, '../dashboards')

interface Rule {
  readonly alert: string
  readonly expr: string
}

function rulesOf(file: string): Rule[] {
  const { groups } = parse(readFileSync(join(FOLDER, file), 'utf8')) as { groups: { rules: Rule[] }[] }
  return groups.flatMap(({ rules }) => rules)
}

/** The metrics that an expression names, without the suffix of a histogram's count. */
function metricsIn(expression: string): string[] {
  return [...expression.matchAll(/\b(?:scoregw|score_gateway|http_server)_\w+/g)].map(([name]) =>
    name.replace(/_seconds_(?:count|sum|bucket)$/, '_seconds'),
  )
}

/** The labels that an expression selects or sums by. */
function labelsIn(expression: string): string[] {
  const selected = [...expression.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label)
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, text = '']) => text.split(/, */))
  return [...selected, ...grouped]
}

it('every alert rule names metrics and labels that the gateway exports', async () => {
  const { gateway, send } = await testGateway()
  // A metric without values has no labels yet.
  await send('GET', '/me/quota')
  const exported = new Map(
    (await gateway.app.registry.getMetricsAsJSON()).map(({ name, values }) => [
      name,
      new Set(values.flatMap(({ labels }) => Object.keys(labels))),
    ]),
  )
  const rules = rulesOf('alerts.yaml')
  expect(rules.length).toBeGreaterThan(5)
  for (const { alert, expr } of rules) {
    const metrics = metricsIn(expr)
    expect([alert, metrics.length > 0]).toEqual([alert, true])
    for (const metric of metrics) {
      const labels = exported.get(metric)
      expect([alert, metric, labels !== undefined]).toEqual([alert, metric, true])
      expect([alert, labelsIn(expr).filter((label) => !labels?.has(label))]).toEqual([alert, []])
    }
  }
})

it('each alert rule is played by the file of tests for promtool', () => {
  const text = readFileSync(join(FOLDER, 'alerts.test.yaml'), 'utf8')
  for (const { alert } of rulesOf('alerts.yaml')) expect(text.split(`alertname: ${alert}`).length - 1, alert).toBe(2)
})

const PROMTOOL = {
  names: ['promtool'],
  debianPackage: 'prometheus',
  packagedPath: 'usr/bin/promtool',
  help: 'No promtool for the alert rules: install prometheus.',
}

it.runIf(slowTests).each([
  ['check', 'config', 'prometheus.yaml'],
  ['test', 'rules', 'alerts.test.yaml'],
])('promtool %s %s accepts %s', async (...args) => {
  const { path, env } = await findProgram(PROMTOOL)
  const { status, stdout, stderr } = spawnSync(path, args, { cwd: FOLDER, env, encoding: 'utf8' })
  expect([status, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining('SUCCESS')])
})
