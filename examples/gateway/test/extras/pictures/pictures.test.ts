import { describe, expect, it } from 'vitest'
import { SAMPLE_CHARTS } from '../../../src/charts/sample-charts.ts'
import { previewPicture } from '../../../src/extras/pictures/preview-picture.ts'
import { sender, testGateway } from '../../support/gateway.ts'

const KEY = 'mk_test-key-0123456789'

describe('chart pictures', () => {
  const chart = SAMPLE_CHARTS[0]!

  it('a picture contains a title only as escaped text', () => {
    const hostile = `<script>alert(1)</script>&"'\u0000\ud800\uffff`
    const svg = previewPicture({ ...chart, title: hostile, artist: hostile, difficulty: '"/><image href="x' })
    for (const bad of ['<script', '<image', '\u0000', '\ud800', '\uffff']) expect(svg).not.toContain(bad)
    expect(svg).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;&#39;')
  })

  it('a picture shows every kind of note and says when notes aren’t counted', () => {
    const svg = previewPicture(chart)
    for (const kind of ['Tap', 'Hold', 'Slide', 'Touch', 'Break']) expect(svg).toContain(`>${kind}<`)
    expect(svg).toContain(`${chart.notes} notes in all`)
    expect(previewPicture({ ...chart, counts: null, notes: null })).toContain('Its notes have not been counted.')
  })

  it('the chart preview shows the picture to holders of a key', async () => {
    const { gateway } = await testGateway({ env: { CHART_API_KEY: KEY } })
    const send = sender(`http://127.0.0.1:${gateway.ports.charts}`, 'charts')
    const get = (key: string) =>
      send('GET', `/api/v1/charts/${key}/preview.svg`, { token: null, headers: { 'X-API-Key': KEY } })
    const picture = await get('104:dx:4')
    expect(picture.headers.get('Content-Type')).toContain('image/svg+xml')
    expect(picture.body).toContain('Glass Orchard')
    expect((await get('104:standard:4')).status).toBe(404)
    expect((await send('GET', '/api/v1/charts/104:dx:4/preview.svg', { token: null })).status).toBe(401)
  })
})
