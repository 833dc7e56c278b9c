import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const docs: string = join(import.meta.dirname, '..')

export interface Page {
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
  Frameworks: ['express', 'fastify', 'nest', 'hono', 'fetch', 'recipes', 'log-in', 'http-options', 'refusals'],
  Limits: [
    'units',
    'plans',
    'limits-from-your-data',
    'saas-plans',
    'credits',
    'shares',
    'api-keys',
    'settings',
    'calendar-limits',
    'token-buckets',
    'concurrency',
    'waiting',
    'reservations',
    'holds',
    'thresholds',
    'shadow',
    'adaptive',
    'status-and-reset',
  ],
  'Language models': ['language-models', 'ai-sdk', 'mcp', 'client'],
  Stores: [
    'memory-store',
    'redis',
    'redis-settings',
    'redis-operations',
    'cluster',
    'sql',
    'sql-settings',
    'sql-transactions',
    'sql-operations',
    'edge',
    'decision-service',
    'failure-policy',
  ],
  Operate: ['metrics', 'events', 'top-subjects', 'cli', 'changing-a-policy', 'shared-policy-file'],
  Migrate: ['comparison', 'coming-from'],
  'How it works': ['algorithms', 'redis-internals', 'benchmarks', 'torture'],
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
      'sources',
      'score-sync',
      'reference',
      'console',
      'administration',
      'credentials',
      'configuration',
      'deployment',
    ],
  },
  { title: 'Proof', folder: 'proof', first: ['index', 'windows', 'rows'] },
  { title: 'Decisions', folder: 'decisions', first: [] },
]

export function pageOf(folder: string, name: string): Page {
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

/** Words that people type and a page does not use: the site's search finds the page by them, too. */
const SEARCH_WORDS: Readonly<Record<string, string>> = {
  'guide/algorithms': 'sliding window, leaky bucket, GCRA',
  'guide/token-buckets': 'burst, bursts, refill, rate, smooth, sliding window, leaky bucket, GCRA',
  'guide/calendar-limits': 'monthly quota, billing cycle, per month, billing period',
  'guide/coming-from': 'migrate, migration, switch from express-rate-limit',
  'guide/concepts': 'hierarchy, hierarchical limits',
  'guide/concurrency': 'concurrent, parallel requests, semaphore',
  'guide/failure-policy': 'outage, 503, fail open, fail closed, circuit breaker',
  'guide/ai-sdk': 'OpenAI, Anthropic, AI SDK, Vercel AI, LLM, GPT, Claude, wrapLanguageModel, middleware',
  'guide/client': 'throttle requests, retry, backoff, call an API, GitHub API, rate limited client',
  'guide/fetch': 'Vercel, Cloudflare, Edge, Elysia, Nuxt, Nitro, Next.js, Remix, Astro, Bun, Deno',
  'guide/limits-from-your-data': 'per tenant, database, dynamic limit, limit per API key, custom limit',
  'guide/language-models': 'LLM, tokens per minute, streaming, abort',
  'guide/mcp': 'MCP, Model Context Protocol, tools, agents',
  'guide/metrics': 'OpenTelemetry, OTLP, spans, tracing, Prometheus, Grafana, dashboard',
  'guide/nest': 'NestJS, Nest, guard, decorator, throttler',
  'guide/recipes': 'Koa, Next.js, SvelteKit, tRPC, GraphQL, tenants, organization, per team, hierarchy',
  'guide/redis': 'node-redis, ioredis, Valkey',
  'guide/refusals': 'Retry-After, headers, RateLimit headers, too many requests',
  'guide/settings': 'override, allowlist, whitelist, blocklist, ban, exempt, bypass, per user limits',
  'guide/testing': 'fake clock, fake timers, mock time, testing, unit tests, Jest, Vitest, supertest',
}

/** A page's HTML as the search reads it. */
export function searched(relativePath: string, html: string): string {
  const words = SEARCH_WORDS[relativePath.replace(/\.md$/, '')]
  return words === undefined ? html : html.replace('</h1>', `</h1><p>${words}</p>`)
}
