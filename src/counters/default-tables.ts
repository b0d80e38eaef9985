/**
 * What the default counter knows of characters, in three strings. They are made of the readable
 * tables of `test/unit/counters/support/tables.ts`, and a test compares them.
 */

/** The kind of each character of ASCII, as the character that is so far behind `0`. */
export const ASCII =
  '@@@@@@@@@33@@3@@@@@@@@@@@@@@@@@@3:9:8:8==9;:=??;2222222222;;9?98811111111111111111111111111=<98>' +
  '800000000000000000000000000989:@'

/**
 * Numbers in base 42: digits are characters from `(` on, and all but the last of a number are 42
 * higher. First the blocks of Unicode up to U+FFFF: how many units, 64ths of a token for a common
 * character and 20, for any other; both divided by 4. Then the common characters in order, each as
 * the distance from the one before it.
 */
export const CHARACTERS =
  'U*==H=KH=:b8=KU:-FSN-?W6-DT4)?TD.?X,.BX,=KX,=S2U**Am:,CU*.B[.=KUJ-DT4*AyB=S2U*0DSXH=S2SXH=KSXH=S' +
  '2S?=DT32IT44@VZH=S2]wJ.HSq.=S2X`(*MT0=S2S:-S1*-=)-BhM-S1j8-+V`L=S2^0=KUJdB+,**)*)**))))T?**)+*))' +
  ')))))):*)/S12S<8TL,.,-**.**SL)+)**+*2))J7,,,)))-**.1*))))*-))P-0:9.3,+3.*_4;7,*,))0)-)0,*SF2-,**' +
  '*))0.)0.SF7**01-))/SL7,.*-1)0,*VH2-.,*-2*/-S3;7,*,))*+1)*4SF*5**/)-1)*4SF7,*,))6)*-/SK;,/*.+/-+*' +
  'S+++5),0))*-+,))))30)\\;,41-+3)**.)*+U=)*),**)+)z7,.-**),*),?)CSZ/.)-+)1ZDfN*Sk))S@/))*,***./))*)' +
  '+)74)).8))3,,)).,+*)0,*20))01VZL2)*)D+5)5+<O-+5G<05*/2-GS*>,GT2,S(Z2+,27TI4G,/.?SL-0S+S?S)TN/.*/' +
  '-);-A,))U(`0ES)0T/UP+W8,5*T(-](/7E.91;SA51J\\EU,*UCSBSBS**T6U+ES,DX-)-S(3V<UH\\O?Q1O-9@I;V241>5?F,' +
  'bLY<)Y?S2iGTPa,T*XE11Z+T>ES3^*U=Z7YQ`0Y8/WGWCxNDXET6ES+T4Z?[1`,:*N@S8SNSC=VO)mQX*T{DV=/DDU:T@S6`' +
  'D^,S2DDVD=S=,V@,Y2`(XLS.HU2HS2`(U6VD`D=T/,,5/T(U6U69O)`CTD:2DV(=TKD,,<D,,1+0TE+9/T(U6VDn(c6[6T(^' +
  '(T(,,13UKKWrKWO)+6'

/**
 * What two letters weigh side by side, three pairs a character: two bits each, the first pair
 * lowest, and `(` is 0. Row by row: 30 first letters, 30 second ones.
 */
export const PAIRS =
  '((8L)X(-Nf6XZT8[(NIRbCbZL`3d[5Z-22Td(ac5H*gEf\\.^S2H8\\b<,8/XRX2ddF`0e[O`77fGf1]cGXFg`We5fe(2)Lc*X' +
  ')[56g7gVg@_egR@6^dWc[Wc?@;TUeX/P[C-7gfI\\[e[3\\8;BVY*`_B-^QI,]0(b-]+SV`Q0``SggggbgedgJ\\*ZU*d<R[GP2' +
  'BTU\\)dc/\\86dOdLFZ6.,]b<[,ffBY7gdcfgVgGYC7d7T]Wf=L@Egc[7gcHdGgaBX?Gg>aGggfggfcVRBcgCDgFAWC=>C>.cN' +
  '<7bTb`/N6eN_'
