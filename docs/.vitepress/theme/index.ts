import { type Theme, useRoute } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import { h, nextTick, onMounted, watch } from 'vue'
import NotFound from './not-found.vue'
import './style.css'

/** Scrolls the sidebar to the page's entry. */
function showEntry(): void {
  document.querySelector('.VPSidebar .is-active')?.scrollIntoView({ block: 'nearest' })
}

/** The default theme in the fonts that the reader's system has: nothing is loaded for them. */
export default {
  extends: DefaultTheme,
  Layout: {
    setup() {
      const route = useRoute()
      onMounted(() => void nextTick(showEntry))
      watch(
        () => route.path,
        () => void nextTick(showEntry),
      )
      return () => h(DefaultTheme.Layout, null, { 'not-found': () => h(NotFound) })
    },
  },
} satisfies Theme
