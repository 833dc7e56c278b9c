import type { Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import { h } from 'vue'
import NotFound from './not-found.vue'
import './style.css'

/** The default theme in the fonts that the reader's system has: nothing is loaded for them. */
export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'not-found': () => h(NotFound) }),
} satisfies Theme
