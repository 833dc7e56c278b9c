import { CATEGORIES, costsOf, countedIn, type Limits, type Operation, type Scenario, teamOf } from './scenario.ts'

/** A scenario as a program that runs as it is: the policy, and requests of one subject until one is refused. */
export function codeOf(scenario: Scenario): string {
  const { windows, units, bursts, operations, team, site, streams } = scenario
  const stream = streams[0]
  const asked = operations[stream?.operation ?? 0]?.name ?? ''
  const name = stream?.subject ?? ''
  const subject = team === null ? quoted(name) : `{ personal: ${quoted(name)}, team: ${quoted(teamOf(name))} }`
  return `import {
  createQuota,
  definePolicy,
  quotaExceededBody,
} from '@scoregw/quota'

const policy = definePolicy({${unitsText(scenario)}
  windows: [
${windows.map((label, at) => `    { label: ${quoted(label)}${countedIn(scenario).length === 1 ? '' : `, unit: '${units[at]}'`}${bursts[at] ? `, burst: { share: ${bursts[at]} }` : ''} },`).join('\n')}
  ],
  categories: ['read', 'write'],
  layers: [
    { name: 'personal' },${team === null ? '' : "\n    { name: 'team' },"}${site === null ? '' : "\n    { name: 'site', shared: true },"}
  ],
  operations: {
${operations.map((each) => entry(4, keyOf(each.name), [`category: '${each.category}'`, `cost: ${costText(scenario, each)}`])).join('\n')}
  },
  base: {
${layerText('personal', windows, scenario.personal)}${team === null ? '' : `\n${layerText('team', windows, team)}`}${site === null ? '' : `\n${layerText('site', windows, site)}`}
  },
})

const quota = createQuota({ policy })
const request = {
  subject: ${subject},
  operation: ${quoted(asked)},
} as const

for (let count = 1; count <= 1_000; count++) {
  const decision = await quota.consume(request)
  if (decision.allowed) continue
  console.log(\`request \${count} is refused\`)
  console.log(quotaExceededBody(decision))
  break
}
await quota.close()
`
}

function layerText(name: string, windows: readonly string[], limits: Limits): string {
  const ofCategory = (category: 'read' | 'write'): string => {
    const entries = windows.map((label, index) => `${keyOf(label)}: ${limitText(limits[category][index] ?? null)}`)
    return entry(6, category, entries)
  }
  return `    ${name}: {\n${CATEGORIES.map(ofCategory).join('\n')}\n    },`
}

/** A member that is an object: on one line where that fits into 72 columns. */
function entry(indent: number, key: string, members: readonly string[]): string {
  const margin = ' '.repeat(indent)
  const line = `${margin}${key}: { ${members.join(', ')} },`
  if (line.length <= 72) return line
  return `${margin}${key}: {\n${members.map((each) => `${margin}  ${each},`).join('\n')}\n${margin}},`
}

/** Tokens alone need not be named. */
function unitsText(scenario: Scenario): string {
  const units = countedIn(scenario)
  if (units.every((unit) => unit === 'tokens')) return ''
  const entries = units.map((unit) =>
    unit === 'cents' ? "{ name: 'cents', format: { currency: 'USD', scale: 2 } }" : quoted(unit),
  )
  return `\n  units: [\n${entries.map((each) => `    ${each},\n`).join('')}  ],`
}

/** Of one unit, a number. */
function costText(scenario: Scenario, operation: Operation): string {
  const costs = Object.entries(costsOf(scenario, operation))
  if (costs.length === 1) return digits(costs[0]?.[1] ?? 0)
  return `{ ${costs.map(([unit, amount]) => `${unit}: ${digits(amount)}`).join(', ')} }`
}

function limitText(limit: number | null): string {
  return limit === null ? "'unlimited'" : digits(limit)
}

/** A number with `_` between its thousands, as the rest of the documentation writes it. */
function digits(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, '_')
}

/** Names are checked to hold nothing that a text in quotes would have to escape. */
function quoted(name: string): string {
  return `'${name}'`
}

function keyOf(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : quoted(name)
}
