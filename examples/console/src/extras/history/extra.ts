import type { Extra } from '../extra.ts'
import { HistoryPage } from './history-page.tsx'
import { texts } from './words.ts'

/** Needs only the audit trail and the settings. */
export const history: Extra = {
  pages: [
    { path: 'settings/history', labels: { en: texts.en.title, 'zh-CN': texts['zh-CN'].title }, Page: HistoryPage },
  ],
}
