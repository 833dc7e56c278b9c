import {
  costsOf,
  countedIn,
  isFree,
  limitName,
  type Operation,
  type Scenario,
  teamOf,
  type Unit,
  usedCategories,
} from './scenario.ts'

/** A scenario as a program that runs as it is: its engine, and requests of one subject until one is refused. */
export function codeOf(scenario: Scenario): string {
  const { operations, user, team, site, streams } = scenario
  const stream = streams[0]
  const asked = operations[stream?.operation ?? 0]?.name ?? ''
  const name = stream?.subject ?? ''
  const subject = team === null ? quoted(name) : `{ user: ${quoted(name)}, team: ${quoted(teamOf(name))} }`
  const limits = [
    ...limitTexts(scenario, 'by', 'user', user),
    ...limitTexts(scenario, 'by', 'team', team),
    ...limitTexts(scenario, 'shared', 'site', site),
  ]
  const hasMoney = countedIn(scenario).includes('cents')
  return `import { createQuota${hasMoney ? ', money' : ''} } from '@scoregw/quota'
import { quotaExceededBody } from '@scoregw/quota/http'

${hasMoney ? "const usd = money('USD')\n" : ''}const quota = createQuota({
  limits: {
${limits.join('\n')}
  },
  operations: {
${operations.map((each) => operationText(scenario, each)).join('\n')}
  },
})
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

function limitTexts(scenario: Scenario, whose: 'by' | 'shared', layer: string, limits: Scenario['team']): string[] {
  const { windows, units, bursts } = scenario
  if (limits === null) return []
  return usedCategories(scenario).flatMap((category) =>
    windows.map((per, at) => {
      const unit = units[at] ?? 'tokens'
      const limit = limits[category][at] ?? null
      return entry(4, quoted(limitName(layer, category, per)), [
        `${whose}: '${layer}'`,
        `limit: ${limit === null ? "'unlimited'" : amountText(unit, limit)}`,
        ...(unit === 'requests' ? [] : [`of: ${unit === 'cents' ? 'usd' : quoted(unit)}`]),
        `per: '${per}'`,
        ...(bursts[at] ? [`burst: { share: ${bursts[at]} }`] : []),
        `for: '${category}'`,
      ])
    }),
  )
}

function operationText(scenario: Scenario, operation: Operation): string {
  const { name, category } = operation
  if (isFree(scenario, operation)) return entry(4, keyOf(name), [`category: '${category}'`, 'free: true'])
  const costs = Object.entries(costsOf(scenario, operation)).filter(([unit]) => unit !== 'requests')
  const texts = costs.map(([unit, cost]) => `${unit === 'cents' ? 'usd' : unit}: ${amountText(unit as Unit, cost)}`)
  const members = texts.length === 0 ? [] : [`cost: { ${texts.join(', ')} }`]
  return entry(4, keyOf(name), [`category: '${category}'`, ...members])
}

/** A member that is an object: on one line where that fits into 72 columns. */
function entry(indent: number, key: string, members: readonly string[]): string {
  const margin = ' '.repeat(indent)
  const line = `${margin}${key}: { ${members.join(', ')} },`
  if (line.length <= 72) return line
  return `${margin}${key}: {\n${members.map((each) => `${margin}  ${each},`).join('\n')}\n${margin}},`
}

function amountText(unit: Unit, amount: number): string {
  return unit === 'cents' ? `usd(${amount / 100})` : digits(amount)
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
