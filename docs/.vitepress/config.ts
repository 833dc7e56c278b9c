import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DefaultTheme, defineConfig, type MarkdownRenderer, type UserConfig } from 'vitepress'
import llmstxt from 'vitepress-plugin-llms'

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
      'comparison',
      'algorithms',
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
      'troubleshooting',
    ],
  },
  {
    title: 'Reference',
    folder: 'reference',
    first: ['api', 'errors', 'http', 'warnings', 'versions', 'store', 'adaptive', 'calendar', 'options', 'model'],
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

function linkOfFirst(folder: string, title: string): string {
  const first = sections.find((section) => section.title === title)?.first[0] ?? 'index'
  return pageOf(folder, first).link
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

/** The reference that is made from comments before the site is built, one page an entry. */
function entryPages(): DefaultTheme.SidebarItem[] {
  const folder = join(docs, 'api/@scoregw')
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : []
  const files = names.filter((name) => name.endsWith('.md')).map((name) => name.replaceAll('\\', '/').slice(0, -3))
  return files.sort().map((name) => ({ text: pageOf('api/@scoregw', name).text, link: `/api/@scoregw/${name}` }))
}

const sidebar: DefaultTheme.SidebarItem[] = [
  ...sections.map((section) => ({ text: section.title, items: pagesOf(section) })),
  { text: 'API', items: entryPages() },
].filter(({ items }) => items.length > 0)

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

const zhSidebar: DefaultTheme.SidebarItem[] = [
  {
    text: '中文',
    items: [
      { text: '首页', link: '/zh/' },
      { text: '快速上手', link: '/zh/getting-started' },
    ],
  },
  { text: '英文文档', items: sections.map(({ title, folder }) => ({ text: title, link: linkOfFirst(folder, title) })) },
]

/**
 * llms.txt, llms-full.txt and each page as Markdown, for programs that read; what comments say is in the packages. The
 * plugin's types are of a newer Vite than VitePress', and of what both have it uses nothing that differs.
 */
const llms = llmstxt({ ignoreFiles: ['api/**', 'playground.md', 'zh/**'] }) as unknown as NonNullable<
  NonNullable<UserConfig['vite']>['plugins']
>[number]

export default defineConfig({
  title: '@scoregw/quota',
  description: 'A quota engine for TypeScript servers',
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
    plugins: [llms],
    // As the sources are written: older browsers have no private members, and these are the playground.
    build: { target: 'es2022' },
    // The playground runs the sources, as the tests do.
    resolve: { conditions: ['@scoregw/source'] },
    ssr: { resolve: { conditions: ['@scoregw/source'] }, noExternal: [/^@scoregw\//] },
  },
  locales: {
    root: { label: 'English', lang: 'en' },
    zh: {
      label: '简体中文',
      lang: 'zh-CN',
      description: '面向 TypeScript 服务器的配额引擎',
      themeConfig: {
        nav: [
          { text: '快速上手', link: '/zh/getting-started' },
          { text: '演练场（英文）', link: '/playground' },
        ],
        outline: { level: [2, 3], label: '本页目录' },
        docFooter: { prev: '上一页', next: '下一页' },
        sidebarMenuLabel: '目录',
        returnToTopLabel: '回到顶部',
        langMenuLabel: '切换语言',
        darkModeSwitchLabel: '主题',
        lightModeSwitchTitle: '切换到浅色主题',
        darkModeSwitchTitle: '切换到深色主题',
        skipToContentLabel: '跳到正文',
      },
    },
  },
  themeConfig: {
    // Pages are not all there in both languages: the other one begins at its first page.
    i18nRouting: false,
    nav: [...nav, { text: 'Playground', link: '/playground' }],
    // The playground has the page's whole width.
    sidebar: { '/': sidebar, '/zh/': zhSidebar },
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        locales: {
          zh: {
            translations: {
              button: { buttonText: '搜索', buttonAriaLabel: '搜索' },
              modal: {
                displayDetails: '显示详情',
                resetButtonTitle: '清除',
                backButtonTitle: '关闭搜索',
                noResultsText: '没有找到',
                footer: { selectText: '选择', navigateText: '切换', closeText: '关闭' },
              },
            },
          },
        },
        // Every export has a line in the reference that people wrote; the whole of it would drown what they look for.
        _render: (source, env, md) => (env.relativePath.startsWith('api/') ? '' : md.render(source, env)),
      },
    },
  },
})
