import { type Theme, useRoute } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import { h, nextTick, onMounted, watch } from 'vue'
import NotFound from './not-found.vue'
import './style.css'

/** Scrolls the sidebar to the page's entry. An export has none of its own, so its package's is marked. */
function showEntry(path: string): void {
  for (const marked of document.querySelectorAll('.VPSidebar .is-within')) marked.classList.remove('is-within')
  const active = document.querySelector('.VPSidebar .is-active') ?? packageEntry(path)
  active?.classList.add('is-within')
  active?.scrollIntoView({ block: 'nearest' })
}

function packageEntry(path: string): Element | null | undefined {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('.VPSidebar a')]
  const around = links.filter(({ pathname }) => pathname.includes('/api/') && path.startsWith(pathname))
  const nearest = around.sort((a, b) => b.pathname.length - a.pathname.length)[0]
  return nearest?.closest('.VPSidebarItem')
}

/** The default theme in the fonts that the reader's system has: nothing is loaded for them. */
export default {
  extends: DefaultTheme,
  Layout: {
    setup() {
      const route = useRoute()
      const show = async (): Promise<void> => {
        await nextTick()
        showEntry(route.path)
      }
      onMounted(show)
      watch(() => route.path, show)
      return () => h(DefaultTheme.Layout, null, { 'not-found': () => h(NotFound) })
    },
  },
} satisfies Theme
