import type { Extra } from '../extra.ts'
import { HistoryPage } from './history-page.tsx'
import { texts } from './words.ts'

/** Made of the audit trail and a change of the settings. */
export const history: Extra = {
  pages: [
    { path: 'settings/history', labels: { en: texts.en.title, 'zh-CN': texts['zh-CN'].title }, Page: HistoryPage },
  ],
}
