import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DefaultTheme, defineConfig } from 'vitepress'

const docs = join(import.meta.dirname, '..')

/** The sidebar's sections are folders of `docs/`, in this order; a page is listed as soon as its file is there. */
const sections = [
  { title: 'Guide', folder: 'guide' },
  { title: 'Reference', folder: 'reference' },
  { title: 'Errors', folder: 'errors' },
]

interface Page {
  readonly text: string
  readonly link: string
  readonly order: number
}

/** A page's title is its first heading; `order: 3` in its front matter sets its place, else it comes after, by name. */
function pageOf(folder: string, file: string): Page {
  const text = readFileSync(join(docs, folder, file), 'utf8')
  const name = file.replace(/\.md$/, '')
  return {
    text: /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? name,
    link: `/${folder}/${name === 'index' ? '' : name}`,
    order: Number(/^order: *(\d+)$/m.exec(text)?.[1] ?? Number.POSITIVE_INFINITY),
  }
}

function pagesOf(folder: string): Page[] {
  let files: string[]
  try {
    files = readdirSync(join(docs, folder)).filter((file) => file.endsWith('.md'))
  } catch {
    return []
  }
  return files
    .sort()
    .map((file) => pageOf(folder, file))
    .sort((a, b) => (a.order === b.order ? 0 : a.order - b.order))
}

const sidebar: DefaultTheme.SidebarItem[] = sections
  .map(({ title, folder }) => ({ text: title, items: pagesOf(folder).map(({ text, link }) => ({ text, link })) }))
  .filter(({ items }) => items.length > 0)

const nav: DefaultTheme.NavItem[] = sidebar.map(({ text, items }) => ({
  text: text ?? '',
  link: items?.[0]?.link ?? '/',
}))

export default defineConfig({
  title: '@scoregw/quota',
  description: 'A quota engine for TypeScript servers',
  lang: 'en',
  cleanUrls: true,
  srcExclude: ['README.md', 'node_modules/**'],
  themeConfig: {
    nav,
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
  },
})
