import './why.css'
import { hrefOf } from '../../route.ts'
import type { Extra } from '../extra.ts'
import { WhyPage } from './why-page.tsx'
import { texts } from './words.ts'

export const why: Extra = {
  name: 'why',
  pages: [
    {
      path: 'why',
      labels: { en: texts.en.title, 'zh-CN': texts['zh-CN'].title },
      icon: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM3.8 3.8l8.4 8.4',
      before: 'errors',
      Page: WhyPage,
    },
  ],
  refusalsHref: (userId) => hrefOf('why', userId),
}
