import type { Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import './style.css'

/** The default theme in the fonts that the reader's system has: nothing is loaded for them. */
export default { extends: DefaultTheme } satisfies Theme
