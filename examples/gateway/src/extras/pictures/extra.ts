import * as z from 'zod'
import { chartOf, keyParams } from '../../charts/preview-routes.ts'
import { route } from '../../http/route.ts'
import type { Extra } from '../extra.ts'
import { previewPicture } from './preview-picture.ts'

/** Adds a picture of each chart to the chart preview. */
export const pictures: Extra = {
  begin: ({ charts }) => ({
    chartRoutes: [
      route({
        method: 'get',
        path: '/api/v1/charts/:chartKey/preview.svg',
        docs: { id: 'chartPicture', tag: 'Chart', summary: 'A picture of a chart', errors: ['not_found'] },
        access: 'holder',
        params: keyParams,
        answer: z.string(),
        answerType: 'image/svg+xml',
        async handle({ params }) {
          return { body: previewPicture(await chartOf(charts, params.chartKey)) }
        },
      }),
    ],
  }),
}
