import type { Extra } from '../extra.ts'
import { AlertsPage } from './alerts-page.tsx'
import { LatestAlerts, lostAlerts } from './latest-alerts.tsx'
import { texts } from './words.ts'

export const alerts: Extra = {
  name: 'alerts',
  pages: [
    {
      path: 'alerts',
      labels: { en: texts.en.title, 'zh-CN': texts['zh-CN'].title },
      icon: 'M3.5 11.5h9l-1-1.7V7a3.5 3.5 0 0 0-7 0v2.8zM6.7 13.8h2.6',
      before: 'credentials',
      Page: AlertsPage,
    },
  ],
  overview: { Card: LatestAlerts, problem: lostAlerts },
}
