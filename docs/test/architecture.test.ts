import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { readPage, root } from './markdown.ts'

interface Rule {
  readonly name: string
  readonly to: { readonly pathNot?: string }
}

/** The rooms that each room may import, from the enforced rules. @param prefix of the rules' names */
async function rulesByRoom(prefix: string): Promise<Record<string, string[]>> {
  const path = join(root, '.dependency-cruiser.mjs')
  const { default: config } = (await import(pathToFileURL(path).href)) as { default: { forbidden: Rule[] } }
  const entries = config.forbidden.flatMap(({ name, to }) => {
    if (!name.startsWith(prefix)) return []
    const room = name.slice(prefix.length)
    const allowed = /\(\?:([^)]+)\)/.exec(String(to.pathNot))?.[1]?.split('|') ?? []
    return [[room, allowed.filter((each) => each !== room && each !== 'errors').sort()]]
  })
  return Object.fromEntries(entries) as Record<string, string[]>
}

function tableOfRooms(title: string): Record<string, string[]> {
  const section = readPage('ARCHITECTURE.md').split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? ''
  const rows = [...section.matchAll(/^\| `([a-z-]+)` +\| ([^|]*)\|/gm)]
  return Object.fromEntries(
    rows.map(([, room = '', imports = '']) => [
      room,
      [...imports.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name).sort(),
    ]),
  ) as Record<string, string[]>
}

it.each([
  ['Rooms of the core', 'room-'],
  ['Rooms of the store on Redis', 'quota-redis-room-'],
  ['Rooms of the stores on SQL', 'quota-sql-room-'],
])('the table "%s" equals the enforced import rules', async (title, prefix) => {
  const rules = await rulesByRoom(prefix)
  expect(Object.keys(rules).length).toBeGreaterThan(5)
  expect(tableOfRooms(title)).toEqual(rules)
})

it('every function in the steps of consume is in the file that its step or an earlier one links', () => {
  const section = readPage('ARCHITECTURE.md').split('## The steps of `consume`')[1]?.split('\n**')[0] ?? ''
  const steps = section.split(/^\d+\. /m).slice(1)
  expect(steps).toHaveLength(10)
  let files = ''
  for (const step of steps) {
    const linked = [...step.matchAll(/\]\(([^)]+\.ts)\)/g)].map(([, path = '']) => readPage(path))
    if (linked.length > 0) files = linked.join('\n')
    const names = [...step.matchAll(/`(#?\w+)`/g)].map(([, name = '']) => name)
    expect(names).not.toHaveLength(0)
    for (const name of names) expect(files, step).toMatch(new RegExp(`(?<![.\\w#])${name}[(<]|class ${name}\\b`))
  }
})

it('each of the ten most likely changes names existing files and what reports a forgotten one', () => {
  const section = readPage('ARCHITECTURE.md').split('## Change X, touch Y\n')[1]?.split('\n## ')[0] ?? ''
  const changes = section.split(/^- \*\*/m).slice(1)
  expect(changes.length).toBeGreaterThanOrEqual(10)
  for (const change of changes) {
    const [touched = '', reports] = change.split(/\bThen:\s/)
    const paths = [...touched.matchAll(/\]\(([^)#]+)/g)].map(([, path = '']) => path)
    expect(paths, change).not.toHaveLength(0)
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
    expect(reports, change).toMatch(/\S/)
  }
})

/** Programs of a minimal Debian with Node, `scripts/bare.sh`; and `ps`, for systems without `/proc`. */
const ON_BARE_MACHINES = ['flock', 'mount', 'node', 'ps', 'sh', 'umount']

it('tests start programs that a bare machine lacks only through findProgram()', () => {
  const within = (folder: string, inner: string): string[] =>
    readdirSync(join(root, folder)).map((name) => `${folder}/${name}/${inner}`)
  const folders = [...within('packages', 'test'), ...within('examples', 'test'), ...within('internal', 'src')]
  const files = [...folders, 'docs/test', 'scripts/test'].flatMap((folder) =>
    existsSync(join(root, folder))
      ? readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file))
      : [],
  )
  expect(files.length).toBeGreaterThan(300)
  const starts = /(?<![.\w])(?:spawn|exec|execFile)(?:Sync)?\(\s*['"`]([\w./-]+)/g
  const sources = files.filter((file) => /\.(?:ts|mjs)$/.test(file))
  const started = sources.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(starts)].map(([, program = '']) => program),
  )
  expect([...new Set(started)].sort()).toEqual(ON_BARE_MACHINES)
})
