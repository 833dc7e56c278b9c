import type { Counterexample, Proof, ProofResult } from './proof.ts'

const WORLD = 'all'

/** The pages of proofs by file name: an overview, and one page per proof. */
export function proofPages(
  proofs: readonly Proof[],
  results: readonly ProofResult[],
  overview: string,
): Readonly<Record<string, string>> {
  const pages = proofs.flatMap((proof) => {
    const result = results.find(({ slug }) => slug === proof.slug)
    return result === undefined ? [] : [[`${proof.slug}.md`, pageOf(proof, result)] as const]
  })
  const table = tableOf(proofs, results)
  return {
    'index.md': overview.replace(/(<!-- proofs -->\n)[\s\S]*?(<!-- \/proofs -->)/, `$1\n${table}\n\n$2`),
    ...Object.fromEntries(pages),
  }
}

function tableOf(proofs: readonly Proof[], results: readonly ProofResult[]): string {
  const rows = results.map(({ slug, depth, states, steps, seconds, counterexamples }) => {
    const { title = slug, promises = [] } = proofs.find((proof) => proof.slug === slug) ?? {}
    const rules = new Set(counterexamples.map(({ rule }) => rule)).size
    const counts = [depth, states, steps, promises.length, rules, counterexamples.length].map(shown)
    return [`[${title}](./${slug}.md)`, ...counts, `${Math.ceil(seconds)} s`]
  })
  return markdownTable(
    ['Machine', 'Actions', 'States', 'Steps', 'Promises', 'Rules', 'Variants that fail', 'Time'],
    rows,
  )
}

/** A table whose columns are as wide as their widest cell. */
export function markdownTable(headers: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = headers.map((_, at) => Math.max(3, ...[headers, ...rows].map((row) => row[at]?.length ?? 0)))
  const lineOf = (row: readonly string[], fill = ' '): string =>
    `| ${widths.map((width, at) => (row[at] ?? '').padEnd(width, fill)).join(' | ')} |`
  return [lineOf(headers), lineOf([], '-'), ...rows.map((row) => lineOf(row))].join('\n')
}

function pageOf({ title, about, promises, actors, known }: Proof, result: ProofResult): string {
  const { depth, states, steps, counterexamples } = result
  const rules = [...new Set(counterexamples.map(({ rule }) => rule))]
  const sections = rules.map((rule) => {
    const variants = counterexamples.filter((each) => each.rule === rule)
    return [`### ${rule}`, ...variants.map((each) => variantOf(each, actors))].join('\n\n')
  })
  const blocks = [
    '<!-- Made by npm run prove -->',
    `# ${title}`,
    about,
    `Every history of ${depth} actions was played: ${shown(states)} states, ${shown(steps)} steps. In each state:`,
    promises.map((promise) => `- ${promise}`).join('\n'),
    ...(known === undefined ? [] : ['## Known to break', known.because, drawn(known, actors)]),
    '## Without one rule',
    'Each rule is left out in turn. Below is one of the shortest histories that then break a promise.',
    ...sections,
  ]
  return `${blocks.join('\n\n')}\n`
}

function variantOf({ fault, promise, history }: Counterexample, actors: readonly string[]): string {
  return [`Instead: ${fault}. Then: **${promise}**.`, drawn({ promise, history }, actors)].join('\n\n')
}

function drawn({ promise, history }: Pick<Counterexample, 'promise' | 'history'>, actors: readonly string[]): string {
  return ['```text', ...timelineOf(history, promise, actors), '```'].join('\n')
}

/** A history drawn from left to right, with one line per actor. The promise breaks at its end. */
export function timelineOf(history: readonly string[], promise: string, actors: readonly string[]): readonly string[] {
  const acted = history.map((action) => {
    const actor = actors.find((each) => action.startsWith(`${each} `)) ?? WORLD
    return { actor, text: actor === WORLD ? action : action.slice(actor.length + 1) }
  })
  const lanes = [...actors, WORLD].filter((lane) => acted.some(({ actor }) => actor === lane))
  const width = Math.max(...lanes.map(({ length }) => length))
  const lines = lanes.map((lane) => {
    const moments = acted.map(({ actor, text }) => (actor === lane ? `[${text}]` : '-'.repeat(text.length + 2)))
    return `${(lane === WORLD ? '' : lane).padEnd(width)} --${moments.join('--')}-->`
  })
  return [...lines, `${''.padStart((lines[0] ?? '').length - 1)}^ ${promise}`]
}

function shown(value: number): string {
  return value.toLocaleString('en-US')
}
