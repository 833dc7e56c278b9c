import './overview.css'
import type { Extra } from '../extra.ts'
import { OverviewPage } from './overview-page.tsx'
import { texts } from './words.ts'

export const overview: Extra = {
  name: 'overview',
  pages: [
    {
      path: 'overview',
      labels: { en: texts.en.title, 'zh-CN': texts['zh-CN'].title },
      icon: 'M2 13h12M4 13V8m4 5V3m4 10V6',
      before: 'settings',
      Page: OverviewPage,
    },
  ],
}
