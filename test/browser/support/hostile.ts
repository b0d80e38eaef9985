/** A host that nothing may ever ask. */
export const CANARY = 'canary.invalid'

const run = 'globalThis.plimsollPwned=1'

/** Texts that run or load something where they are taken for markup. */
export const HOSTILE: readonly string[] = [
  `<script>${run}</script>`,
  `<img src=x onerror="${run}">`,
  `<img src="https://${CANARY}/pixel.png">`,
  `![alt](https://${CANARY}/pixel.png)`,
  `![alt][ref]\n\n[ref]: https://${CANARY}/pixel.png "title"`,
  `<svg onload="${run}"><a xlink:href="javascript:${run}"><text>x</text></a></svg>`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${run}&gt;">`,
  `<iframe srcdoc="<script>parent.plimsollPwned=1</script>"></iframe>`,
  `<a href="javascript:${run}">click</a> [click](javascript:${run}) [click](JaVaScRiPt:${run})`,
  `[click](&#106;avascript:${run}) [click](java\tscript:${run}) [x](data:text/html;base64,PHNjcmlwdD4=)`,
  `<https://${CANARY}/auto> [x](vbscript:x) <javascript:${run}>`,
  `[x](https://example.com "onmouseover=${run}") [a](https://example.com/" onmouseover="${run})`,
  `\`\`\`"><img src=x onerror=${run}>\ncode\n\`\`\``,
  `\`\`\`html\n</code></pre><script>${run}</script>\n\`\`\``,
  `| <img src=x onerror=${run}> | b |\n| --- | --- |\n| ![x](https://${CANARY}/t.png) | <svg/onload=${run}> |`,
  `<style>@import "https://${CANARY}/a.css";</style><link rel=stylesheet href="https://${CANARY}/b.css">`,
  `<form action="https://${CANARY}"><input name=a><button formaction="javascript:${run}">x</button></form>`,
  `<video src="https://${CANARY}/v"><source onerror=${run}></video><audio src="https://${CANARY}/a" autoplay>`,
  `<object data="https://${CANARY}/o"></object><embed src="https://${CANARY}/e"><base href="https://${CANARY}/">`,
  `<meta http-equiv=refresh content="0;url=https://${CANARY}/"><div style="background:url(https://${CANARY}/s)">`,
  `<p id="${CANARY}" class="launcher"><input name=attributes><form id=parentNode>`,
  `\u0000<scr\u0000ipt>${run}</script>\u202e<img src=x onerror=${run}>`,
  `\${alert(1)}{{constructor.constructor('${run}')()}}<template><script>${run}</script></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${run}>">`,
  '__proto__',
]
