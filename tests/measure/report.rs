//! What a measurement found, as a page with a table, the same as CSV, and a picture.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use plotters::prelude::*;

/// One measurement.
pub(crate) struct Report {
    /// Names its files.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// What was done, on what, and how sure it is; Markdown.
    pub(crate) method: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) plot: Option<Plot>,
}

/// Lines over one axis.
pub(crate) struct Plot {
    pub(crate) x: &'static str,
    pub(crate) y: &'static str,
    pub(crate) lines: Vec<(String, Vec<(f64, f64)>)>,
}

const COLOURS: [RGBColor; 6] = [
    RGBColor(0x44, 0x44, 0x44),
    RGBColor(0xd9, 0x5f, 0x02),
    RGBColor(0x1b, 0x9e, 0x77),
    RGBColor(0x75, 0x70, 0xb3),
    RGBColor(0xe7, 0x29, 0x8a),
    RGBColor(0x66, 0xa6, 0x1e),
];

impl Report {
    /// Writes its files into `docs/measurements/`.
    pub(crate) fn write(&self) {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/measurements");
        fs::create_dir_all(&folder).unwrap();
        let file = |ending: &str| folder.join(format!("{}.{ending}", self.name));
        let lines = std::iter::once(&self.columns).chain(&self.rows);
        let csv: String = lines.map(|row| row.join(",") + "\n").collect();
        fs::write(file("csv"), csv).unwrap();
        if let Some(plot) = &self.plot {
            plot.draw(&file("svg"), self.title);
        }
        fs::write(file("md"), self.page()).unwrap();
        println!("{}", self.page());
    }

    fn page(&self) -> String {
        let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = format!("|{}\n", "---|".repeat(self.columns.len()));
        let rows: String = self.rows.iter().map(|cells| row(cells)).collect();
        let picture =
            self.plot.as_ref().map_or_else(String::new, |_| format!("![{}]({}.svg)\n\n", self.title, self.name));
        let (title, method) = (self.title, self.method.trim());
        let table = format!("{}{rule}{rows}", row(&self.columns));
        format!("# {title}\n\n{method}\n\n{table}\n{picture}The table as CSV: [{0}.csv]({0}.csv).\n", self.name)
    }
}

impl Plot {
    fn draw(&self, path: &std::path::Path, title: &str) {
        let root = SVGBackend::new(path, (820, 440)).into_drawing_area();
        root.fill(&WHITE).unwrap();
        let points = || self.lines.iter().flat_map(|(_, points)| points);
        let [left, right] =
            [f64::min as fn(f64, f64) -> f64, f64::max].map(|of| points().map(|it| it.0).reduce(of).unwrap());
        let top = points().map(|it| it.1).fold(0.0, f64::max) * 1.1;
        let mut chart = ChartBuilder::on(&root)
            .caption(title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(42)
            .y_label_area_size(56)
            .build_cartesian_2d(left..right, 0.0..top.max(1e-9))
            .unwrap();
        chart.configure_mesh().x_desc(self.x).y_desc(self.y).light_line_style(TRANSPARENT).draw().unwrap();
        for ((name, points), colour) in self.lines.iter().zip(COLOURS.iter().cycle()) {
            let style = ShapeStyle::from(colour).stroke_width(2);
            let line = chart.draw_series(LineSeries::new(points.iter().copied(), style)).unwrap();
            line.label(name).legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
            chart.draw_series(points.iter().map(|at| Circle::new(*at, 3, colour.filled()))).unwrap();
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.8))
            .border_style(RGBColor(0xcc, 0xcc, 0xcc))
            .draw()
            .unwrap();
        root.present().unwrap();
    }
}

/// The processor and kernel of the machine this runs on.
pub(crate) fn host() -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {cpus} CPUs, Linux {}", model.map_or("unknown processor", |it| it.1), release.trim())
}

/// The first line that a program says of its version.
pub(crate) fn version(program: &mut Command) -> String {
    let output = program.arg("--version").output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&output).lines().next().unwrap_or("unknown version").to_owned()
}

/// A share as per cent.
pub(crate) fn percent(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.2}", 100.0 * part / whole) } else { "-".to_owned() }
}
