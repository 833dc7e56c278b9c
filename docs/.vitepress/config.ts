import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DefaultTheme, defineConfig, type MarkdownRenderer } from 'vitepress'

const docs = join(import.meta.dirname, '..')

interface Section {
  readonly title: string
  /** A folder of `docs/`: its pages are listed as soon as their files are there. */
  readonly folder: string
  /** Pages that come first, in this order; the others follow by name. */
  readonly first: readonly string[]
}

const sections: readonly Section[] = [
  {
    title: 'Guide',
    folder: 'guide',
    first: [
      'getting-started',
      'concepts',
      'express',
      'fastify',
      'hono',
      'fetch',
      'http-options',
      'recipes',
      'coming-from',
      'refusals',
      'settings',
      'plans',
      'shadow',
      'changing-a-policy',
      'calendar-limits',
      'adaptive',
      'reservations',
      'holds',
      'language-models',
      'concurrency',
      'status-and-reset',
      'events',
      'thresholds',
      'metrics',
      'top-subjects',
      'stores',
      'memory-store',
      'failure-policy',
      'redis',
      'cluster',
      'scale',
      'sql',
      'time-and-clocks',
      'typescript',
    ],
  },
  {
    title: 'Reference',
    folder: 'reference',
    first: ['api', 'errors', 'http', 'warnings', 'store', 'adaptive', 'calendar', 'options'],
  },
  {
    title: 'Gateway',
    folder: 'gateway',
    first: ['index', 'reference', 'openapi', 'client', 'administration', 'credentials'],
  },
]

/** A page's title is its first heading. */
function pageOf(folder: string, name: string): { readonly text: string; readonly link: string } {
  const text = readFileSync(join(docs, folder, `${name}.md`), 'utf8')
  return {
    text: /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? name,
    link: `/${folder}/${name === 'index' ? '' : name}`,
  }
}

function pageNames(folder: string): string[] {
  if (!existsSync(join(docs, folder))) return []
  const files = readdirSync(join(docs, folder)).filter((file) => file.endsWith('.md'))
  return files.map((file) => file.replace(/\.md$/, '')).sort()
}

function pagesOf({ folder, first }: Section): DefaultTheme.SidebarItem[] {
  const names = pageNames(folder)
  const others = names.filter((name) => !first.includes(name))
  return [...first.filter((name) => names.includes(name)), ...others].map((name) => pageOf(folder, name))
}

/** A heading's anchor as GitHub makes it, so that one address works in both places. */
function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
}

const sidebar: DefaultTheme.SidebarItem[] = sections
  .map((section) => ({ text: section.title, items: pagesOf(section) }))
  .filter(({ items }) => items.length > 0)

const nav: DefaultTheme.NavItem[] = sidebar.map(({ text, items }) => ({
  text: text ?? '',
  link: items?.[0]?.link ?? '/',
}))

type CoreRule = Parameters<MarkdownRenderer['core']['ruler']['push']>[1]

/** A table's corner without a text is a cell: a header that says nothing confuses who listens to it. */
const emptyHeadersAsCells: CoreRule = ({ tokens }) => {
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'th_open' || tokens[index + 1]?.content !== '') continue
    token.tag = 'td'
    const close = tokens[index + 2]
    if (close?.type === 'th_close') close.tag = 'td'
  }
}

export default defineConfig({
  title: '@scoregw/quota',
  description: 'A quota engine for TypeScript servers',
  lang: 'en',
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/favicon.svg' }]],
  cleanUrls: true,
  srcExclude: ['README.md', 'node_modules/**'],
  markdown: {
    anchor: { slugify: anchorOf },
    // Comments and keywords that can be read on the background of a block.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (md) => md.core.ruler.push('empty_headers', emptyHeadersAsCells),
  },
  vite: {
    // The playground runs the sources, as the tests do.
    resolve: { conditions: ['@scoregw/source'] },
    ssr: { resolve: { conditions: ['@scoregw/source'] }, noExternal: [/^@scoregw\//] },
  },
  themeConfig: {
    nav: [...nav, { text: 'Playground', link: '/playground' }],
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
  },
})
