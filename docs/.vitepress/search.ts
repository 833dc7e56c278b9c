import type { DefaultTheme } from 'vitepress'
import { descriptionOf } from './pages.ts'

/** Words that people type and a page does not use: the site's search finds the page by them, too. */
const SEARCH_WORDS: Readonly<Record<string, string>> = {
  'guide/algorithms': 'burst, bursts, refill, rate, smooth, sliding window, leaky bucket, GCRA',
  'guide/calendar-limits': 'monthly quota, monthly, quota, billing cycle, per month, billing period',
  'guide/coming-from': 'migrate, migration, switch from express-rate-limit',
  'guide/concepts': 'hierarchy, hierarchical limits',
  'guide/concurrency': 'concurrent, parallel requests, semaphore',
  'guide/failure-policy': 'outage, 503, fail open, fail closed, circuit breaker',
  'guide/ai-sdk': 'OpenAI, Anthropic, AI SDK, LLM, GPT, Claude, wrapLanguageModel, middleware',
  'guide/client': 'throttle requests, retry, backoff, call an API, GitHub API, rate limited client',
  'guide/fetch': 'Vercel, Cloudflare, Edge, Elysia, Nuxt, Nitro, Next.js, nextjs, Remix, Astro, Bun, Deno',
  'guide/limits-from-your-data': 'per tenant, database, dynamic limit, limit per API key, custom limit',
  'guide/language-models': 'LLM, tokens per minute, streaming, abort',
  'guide/mcp': 'MCP, Model Context Protocol, tools, agents',
  'guide/metrics': 'OpenTelemetry, OTLP, spans, tracing, Prometheus, Grafana, dashboard',
  'guide/nest': 'NestJS, Nest, guard, decorator, throttler',
  'guide/recipes': 'Koa, Next.js, nextjs, SvelteKit, tRPC, GraphQL, tenants, organization, per team, hierarchy',
  'guide/redis': 'node-redis, ioredis, Valkey',
  'guide/sql': 'postgres, PostgreSQL, SQLite, database',
  'guide/refusals': 'Retry-After, headers, RateLimit headers, too many requests',
  'guide/settings': 'override, allowlist, whitelist, blocklist, ban, exempt, bypass, per user limits',
  'guide/testing': 'fake clock, fake timers, mock time, testing, unit tests, Jest, Vitest, supertest',
}

const zh = {
  button: { buttonText: '搜索', buttonAriaLabel: '搜索' },
  modal: {
    displayDetails: '显示详情',
    resetButtonTitle: '清除',
    backButtonTitle: '关闭搜索',
    noResultsText: '没有找到',
    footer: { selectText: '选择', navigateText: '切换', closeText: '关闭' },
  },
}

/**
 * The site's search, in the browser. VitePress writes the functions into the page as text, so each is complete in itself.
 */
export const search: NonNullable<DefaultTheme.Config['search']> = {
  provider: 'local',
  options: {
    locales: { zh: { translations: zh } },
    miniSearch: {
      options: {
        // Chinese has no spaces between words.
        tokenize: (text) =>
          text
            .split(/[\n\r\p{Z}\p{P}]+/u)
            .flatMap((word) =>
              /\p{Script=Han}/u.test(word)
                ? [...new Intl.Segmenter('zh', { granularity: 'word' }).segment(word)].map(({ segment }) => segment)
                : [word],
            ),
      },
      searchOptions: {
        // What the word is itself comes before what it is the beginning of, or like.
        weights: { prefix: 0.05, fuzzy: 0.05 },
        // Fuzzy search of short words would find `next` by `nuxt`.
        fuzzy: (term) => (term.length > 6 ? 0.2 : false),
        // An export of that very name first; the guide before the pages of the gateway and of contributors.
        boostDocument: (id: string, term: string, stored?: Record<string, unknown>) => {
          if (id.includes('/guide/')) return 2
          if (!id.includes('/api/')) return 1
          const name = String(stored?.title).replace('()', '')
          // A name of one plain word, such as Quota, is a word of the language, too.
          const isExact = name.toLowerCase() === term && /[a-z][A-Z]/.test(name)
          if (!isExact) return 0.2
          return id.includes('/functions/') ? 10 : 8
        },
      },
    },
    // Words of a page weigh as if the page used each three times. Of a page of an export, its name and first sentences: its tables would drown what people look for.
    _render: (source, env, md) => {
      const path: string = env.relativePath
      const [title] = /^# .+$/m.exec(source) ?? []
      if (path.startsWith('api/')) return md.render(`${title}\n\n${descriptionOf(source)}`, env)
      const html = md.render(source, env)
      const words = SEARCH_WORDS[path.replace(/\.md$/, '')]
      return words === undefined ? html : html.replace('</h1>', `</h1><p>${`${words}. `.repeat(3)}</p>`)
    },
  },
}
