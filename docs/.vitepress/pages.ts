import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const docs: string = join(import.meta.dirname, '..')

interface Page {
  /** Its first heading. */
  readonly title: string
  /** Its first paragraph, as plain text. */
  readonly description: string
  /** From the site's root, without `.md`. */
  readonly link: string
}

export interface Group {
  readonly title: string
  readonly pages: readonly Page[]
}

/** The guide's pages by what a reader wants to do. A test demands that each page is in one group. */
const GUIDE: Readonly<Record<string, readonly string[]>> = {
  Start: ['getting-started', 'stores', 'concepts', 'testing', 'typescript', 'troubleshooting'],
  Frameworks: ['express', 'fastify', 'nest', 'fetch', 'recipes', 'log-in', 'http-options', 'refusals'],
  Limits: [
    'units',
    'plans',
    'limits-from-your-data',
    'saas-plans',
    'credits',
    'settings',
    'algorithms',
    'calendar-limits',
    'concurrency',
    'waiting',
    'holds',
    'thresholds',
    'adaptive',
  ],
  'Language models': ['language-models', 'ai-sdk', 'mcp', 'client'],
  Stores: ['redis', 'cluster', 'sql', 'sql-transactions', 'edge', 'decision-service', 'failure-policy'],
  Operate: ['metrics', 'cli', 'changing-a-policy'],
  Migrate: ['comparison', 'coming-from'],
  'How it works': ['how-stores-work', 'benchmarks'],
  Extend: ['write-a-store', 'write-an-adapter'],
}

/** Folders with groups of their own: these pages come first, the others follow by name. */
const FOLDERS: readonly { readonly title: string; readonly folder: string; readonly first: readonly string[] }[] = [
  {
    title: 'Reference',
    folder: 'reference',
    first: [
      'policy',
      'shapes',
      'api',
      'errors',
      'http',
      'warnings',
      'versions',
      'store',
      'adaptive',
      'calendar',
      'model',
    ],
  },
  {
    title: 'Gateway',
    folder: 'gateway',
    first: [
      'index',
      'walkthrough',
      'players',
      'score-sync',
      'reference',
      'console',
      'administration',
      'credentials',
      'configuration',
      'deployment',
    ],
  },
  { title: 'Proof', folder: 'proof', first: ['index', 'torture', 'windows', 'rows'] },
  { title: 'Decisions', folder: 'decisions', first: [] },
]

/** Pages in Chinese, by those in English that say the same. */
export const CHINESE: Readonly<Record<string, string>> = {
  'index.md': 'zh/index.md',
  'guide/getting-started.md': 'zh/getting-started.md',
  'guide/concepts.md': 'zh/concepts.md',
  'gateway/index.md': 'zh/gateway.md',
}

function pageOf(folder: string, name: string): Page {
  const text = readFileSync(join(docs, folder, `${name}.md`), 'utf8')
  return {
    title: /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? name,
    description: descriptionOf(text),
    link: `/${folder}/${name === 'index' ? '' : name}`,
  }
}

/** The first paragraph below the first heading: no table, list, code or picture. */
export function descriptionOf(text: string): string {
  const [, below = ''] = text.split(/^# .+$/m)
  const paragraph = below
    .split(/\n\s*\n/)
    .find((block) => /^\s*[\p{L}\p{N}`@"“*[]/u.test(block) && !block.includes('```'))
  return (paragraph ?? '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/:$/, '.')
}

function namesIn(folder: string): string[] {
  if (!existsSync(join(docs, folder))) return []
  const files = readdirSync(join(docs, folder)).filter((file) => file.endsWith('.md'))
  return files.map((file) => file.replace(/\.md$/, '')).sort()
}

/** Pages of the guide that no group has. */
export function ungrouped(): string[] {
  const grouped = Object.values(GUIDE).flat()
  return namesIn('guide').filter((name) => !grouped.includes(name))
}

/** All pages that people wrote in English, as the sidebar shows them. */
export function groups(): Group[] {
  const guide = Object.entries(GUIDE).map(([title, names]) => ({
    title,
    pages: names.map((name) => pageOf('guide', name)),
  }))
  const folders = FOLDERS.map(({ title, folder, first }) => {
    const names = namesIn(folder)
    const ordered = [...first, ...names.filter((name) => !first.includes(name))]
    return { title, pages: ordered.map((name) => pageOf(folder, name)) }
  })
  return [...guide, ...folders]
}

/** The reference made from comments before the site is built: the page of each entry lists its exports. */
export function apiEntries(): Group {
  const folder = join(docs, 'api/@scoregw')
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : []
  const entries = names.map((name) => name.replaceAll('\\', '/')).filter((name) => name.endsWith('/index.md'))
  const pages = entries.map((name) => ({
    ...pageOf('api/@scoregw', name.replace(/\.md$/, '')),
    link: `/api/@scoregw/${name.replace(/index\.md$/, '')}`,
  }))
  return { title: 'API', pages: pages.toSorted((a, b) => (a.link < b.link ? -1 : 1)) }
}
