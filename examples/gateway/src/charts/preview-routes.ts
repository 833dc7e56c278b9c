import * as z from 'zod'
import type { ErrorBody } from '../http/error-handler.ts'
import { HttpError } from '../http/http-error.ts'
import { holderRoute, type Route } from '../http/route.ts'
import { queryNumber } from '../http/schemas.ts'
import type { About } from '../openapi/document.ts'
import { CHART_TYPES, type Chart, dxScoreMax, parsePreviewKey, previewKeyOf, previewText } from './chart.ts'
import type { ChartRepository } from './chart-repository.ts'

const MAX_LIMIT = 100
const MAX_PAGE = 1_000_000
const TAG = 'Chart'

const pageQuery = z.object({
  page: queryNumber(1, MAX_PAGE, 1).describe('from 1 on'),
  limit: queryNumber(1, MAX_LIMIT, 20).describe('charts a page'),
})

/** The path's `:chartKey`. */
const keyParams = z.object({
  chartKey: z.string().describe('`songId:kind:difficulty`, for example `101:standard:4`; difficulty 1 to 6'),
})

const count = z.int().min(0)

const chartFacts = z
  .object({
    chartKey: z.string(),
    songId: z.int().describe('standard and DX music share one id'),
    kind: z.enum(CHART_TYPES),
    difficulty: z.int().min(1).max(6).describe('Basic, Advanced, Expert, Master, Re:Master, utage'),
    musicId: z.int().describe("the gateway's id of the music"),
    title: z.string(),
    artist: z.string().nullable(),
    charter: z.string().nullable(),
    level: z.string().nullable().describe('the difficulty as players write it: `13+`'),
    constant: z.number().nullable().describe('the exact difficulty'),
    notes: count.nullable(),
    noteCounts: z.object({ taps: count, holds: count, slides: count, touches: count, breaks: count }).nullable(),
    dxScoreMax: count.nullable(),
  })
  .meta({ id: 'Chart' })

const pageAnswer = z.object({ items: z.array(chartFacts), total: count, page: z.int(), limit: z.int() })

/** The table of charts, as pages or one by one. */
export function chartRoutes(charts: ChartRepository): Route[] {
  return [
    holderRoute('GET /api/v1/charts', {
      id: 'listCharts',
      tag: TAG,
      summary: 'All charts, page by page',
      query: pageQuery,
      answer: pageAnswer,
      async handle({ query: { page, limit } }) {
        const found = await charts.page((page - 1) * limit, limit)
        return { body: { items: found.charts.map(factsOf), total: found.total, page, limit } }
      },
    }),
    holderRoute('GET /api/v1/charts/:chartKey', {
      id: 'readChart',
      tag: TAG,
      summary: 'One chart',
      errors: ['not_found'],
      params: keyParams,
      answer: chartFacts,
      async handle({ params }) {
        return { body: factsOf(await chartOf(charts, params.chartKey)) }
      },
    }),
  ]
}

/** The service's own form of errors. */
export const chartErrorBody: ErrorBody = ({ message }) => ({ message })

/** @throws {HttpError} `not_found` for an unknown chart, and for a text that isn't a key */
async function chartOf(charts: ChartRepository, text: string): Promise<Chart> {
  const key = parsePreviewKey(text)
  const chart = key === undefined ? undefined : await charts.find(key)
  if (chart !== undefined) return chart
  throw new HttpError(
    'not_found',
    'There is no such chart. A key is songId:kind:difficulty, for example 101:standard:4.',
  )
}

function factsOf(chart: Chart): z.input<typeof chartFacts> {
  const { musicId, title, artist, charter, difficulty: level, constant, notes, counts } = chart
  const key = previewKeyOf(chart)
  return {
    chartKey: previewText(key),
    ...key,
    musicId,
    title,
    artist,
    charter,
    level,
    constant,
    notes,
    noteCounts: counts,
    dxScoreMax: dxScoreMax(notes),
  }
}

const DESCRIPTION = `The table of charts, for browsing: titles, difficulties and note counts.

**Credential.** \`X-API-Key\` with a key of this service, which begins with \`mk_\`. Credentials of the other services do not
work here.`

const errorBody = z.object({ message: z.string().describe('What went wrong.') }).meta({ id: 'Error' })

/** What the document of the chart preview says. */
export const ABOUT_CHARTS: About = {
  title: 'Chart preview',
  description: DESCRIPTION,
  errorBody,
  securitySchemes: {
    key: {
      type: 'apiKey',
      in: 'header',
      name: 'X-API-Key',
      description: 'A key of this service: it begins with `mk_`.',
    },
  },
}
