// node onnxruntime.cjs PACKAGE FOLDER: runs FOLDER/m.onnx on the inputs of FOLDER/in.json (null: NaN) and prints the outputs.
const fs = require("fs");
const ort = require(process.argv[2]);
const folder = process.argv[3];

async function main() {
  const session = await ort.InferenceSession.create(folder + "/m.onnx", { logSeverityLevel: 3 });
  const feeds = {};
  for (const [name, rows] of Object.entries(JSON.parse(fs.readFileSync(folder + "/in.json", "utf8")))) {
    const text = rows.some((v) => typeof v === "string" && v !== "inf");
    const number = (v) => (v === null ? NaN : v === "inf" ? Infinity : v);
    feeds[name] = text
      ? new ort.Tensor("string", rows, [rows.length, 1])
      : new ort.Tensor("float64", Float64Array.from(rows, number), [rows.length, 1]);
  }
  const out = {};
  for (const [name, tensor] of Object.entries(await session.run(feeds))) {
    const [count, width] = tensor.dims;
    out[name] = [];
    for (let n = 0; n < count; ++n) out[name].push(Array.from(tensor.data.slice(n * width, (n + 1) * width)));
  }
  console.log(JSON.stringify(out));
}
main().catch((e) => { console.error(e); process.exit(1); });
